# A Kubernetes node in the test VM: containerd, a kubelet without an API server (cluster.sh has one), the agent as its device
# plugin, and ib-sriov, called for every pod beside the cluster's network. Each case starts with:
#   . "$ROOT/tests/cluster/node.sh"
# Set by the harness beside what tests/vm/lib.sh tells: IBPOD_CACHE, and MULTUS (a program) or nothing.
# shellcheck shell=bash disable=SC2016,SC2034
. "$ROOT/tests/vm/lib.sh"
. "$ROOT/tests/cluster/versions.sh"
. "$ROOT/tests/cluster/pods.sh"
export PATH=$cluster_path:$PATH

here=/run/cluster
records=/var/lib/ibpod/attachments
resource=ibpod.io/ib_vf
node=node1
node_address=192.0.2.10
groups=/sys/fs/cgroup
log_folder=/run/vm/log/$CASE.node
pod_interface=eth1
if [ -n "${MULTUS:-}" ]; then pod_interface=net1; fi

# --- the machine under it, as an init system would have made it -------------------------------------------------------

make_machine() {
  mkdir -p "$here"/{pods,net.d,log}
  at_end rm -rf "$here" /var/log/{pods,containers} /var/lib/{cni,ibpod} /run/{containerd,ibpod,cdi,k8s.cni.cncf.io}
  mount_here cgroup2 "$groups"
  mount_here mqueue /dev/mqueue
  # An overlay cannot have one for its upper layer.
  mount_here tmpfs /var/lib/containerd
  mount_here tmpfs /var/lib/kubelet
  mount --make-rshared /
  echo "+cpu +cpuset +memory +pids +io" >"$groups/cgroup.subtree_control"
  mkdir -p "$groups/node"
  modprobe -a overlay dummy bridge veth br_netfilter
  sysctl -q -w net.ipv4.ip_forward=1
  # The kubelet wants an address and a default route, and no slow look-ups of names.
  ip link add dummy0 type dummy
  at_end ip link delete dummy0
  ip address add "$node_address/24" dev dummy0
  ip link set dummy0 up
  ip route add default via 192.0.2.1
  : >"$WORK/resolv.conf"
  mount --bind "$WORK/resolv.conf" /etc/resolv.conf
  at_end umount /etc/resolv.conf
  cp "$ROOT/build/release/bin/ibpod-agent" "$IBPOD_BIN/"
}

mount_here() { # TYPE FOLDER
  mkdir -p "$2"
  mount -t "$1" "$1" "$2"
  at_end umount --recursive "$2"
}

# --- networks ---------------------------------------------------------------------------------------------------------

cluster_network() {
  jq -n --arg leases "$here/leases" '{cniVersion: "1.0.0", name: "cluster", plugins: [{type: "bridge", bridge: "br0",
    isGateway: true, ipam: {type: "host-local", subnet: "10.244.0.0/24", dataDir: $leases}}]}'
}

# The one of manifests/cni-config, with leases that go with the case; changed by a jq filter.
network_filter=.
our_network() {
  jq --arg leases "$here/leases" '.plugins[0] |= (.ipam.dataDir = $leases | '"$network_filter)" \
    "$ROOT/manifests/cni-config/20-ibpod.conflist"
}

make_networks() {
  at_end delete_bridge
  node_config "{logFile: \"$here/log/ib-sriov\"}"
  write_networks
}

# Also anew, when another network is wanted for pods that come.
write_networks() {
  if [ -z "${MULTUS:-}" ]; then
    cluster_network >"$here/net.d/10-cluster.conflist"
    our_network >"$here/net.d/20-ibpod.conflist"
    return
  fi
  cp "$MULTUS" "$IBPOD_BIN/multus"
  jq -n --argjson cluster "$(cluster_network)" --argjson ours "$(our_network)" '{cniVersion: "1.0.0", name: "multus",
    type: "multus", binDir: "/run/bin", delegates: [$cluster, $ours]}' >"$here/net.d/00-multus.conf"
}

delete_bridge() { [ ! -e /sys/class/net/br0 ] || ip link delete br0; }

# --- daemons: all in one cgroup, to be killed as one ------------------------------------------------------------------

# Their processes, by name.
declare -A daemon=()

run_daemon() { # NAME COMMAND...
  (
    echo "$BASHPID" >"$groups/node/cgroup.procs"
    exec "${@:2}" >>"$here/log/$1" 2>&1
  ) &
  daemon[$1]=$!
}

end_daemon() { # NAME [SIGNAL]
  kill "-${2:-TERM}" "${daemon[$1]}"
  wait "${daemon[$1]}" 2>/dev/null || true
}

start_containerd() {
  run_daemon containerd containerd --config "$ROOT/tests/cluster/conf/containerd.toml"
  wait_for 90 ctr version
}

import_images() { # NAME...: of images.sh
  local name
  for name; do ctr -n k8s.io images import "$cluster/images-$images/$name.tar" >/dev/null; done
}

kubelet_options=() # more of them
launch_kubelet() {
  touch "$here/kubelet.begun"
  run_daemon kubelet kubelet --config "$ROOT/tests/cluster/conf/kubelet.yaml" --hostname-override "$node" \
    --node-ip "$node_address" "${kubelet_options[@]}"
}

start_kubelet() {
  launch_kubelet
  wait_for 120 curl -sf http://127.0.0.1:10248/healthz
}

# The agent offers these VFs, which have GUIDs already. It runs garbage collection as often as it may. Changed by a jq
# filter.
agent_filter=.
agent_config() { # VF...
  jq -n --arg work "$WORK" --arg resource "${resource#*/}" '{rdmaNetns: "exclusive", cniBinDir: "/run/bin", sweepSeconds: 5, logLevel: "debug",
    resourceList: [{resourcePrefix: "ibpod.io", resourceName: $resource,
      selectors: [{pciAddresses: $ARGS.positional, isRdma: true}]}]} | '"$agent_filter" --args "$@" >"$here/agent.json"
}

launch_agent() { run_daemon agent ibpod-agent --config "$here/agent.json" --node "$node"; }

start_agent() {
  launch_agent
  wait_for 90 curl -sf http://127.0.0.1:9464/readyz
}

# --- the whole node ---------------------------------------------------------------------------------------------------

# Makes the node with that many VFs of PF 0, each with a GUID, that are offered.
start_node() { # NUMBER
  prepare_vfs "$1"
  start_daemons
}

prepare_vfs() { # NUMBER; sets $vfs and $guids
  local i
  vfs=() guids=()
  for ((i = 0; i < $1; i++)); do
    guids+=("$(printf '02:00:00:00:00:00:0c:%02x' $((i + 1)))")
    set_static_guid 0 "$i" "${guids[i]}"
    vfs+=("$(vf_pci 0 "$i")")
  done
}

start_daemons() {
  make_machine
  make_networks
  agent_config "${vfs[@]}"
  at_end stop_node
  start_containerd
  import_images pause busybox
  start_kubelet
  start_agent
  wait_for 90 offers "${vfs[@]}"
}

# Also after a failure, whatever runs then.
stop_node() {
  keep_logs
  rm -f "$here/pods"/*
  (wait_for 180 no_pod) || true
  power_cut
}

# Collects the files that explain a failure, beside the case's own log.
keep_logs() {
  mkdir -p "$log_folder"
  cp -r "$here/log"/. "$log_folder/"
  if [ -e /var/log/pods ]; then cp -r /var/log/pods "$log_folder/"; fi
}

# Every process ends at once, those of pods too, and nobody is told. With them goes what a boot does not leave: pods'
# namespaces, mounts, what was in /run. The VFs keep their GUIDs.
power_cut() {
  local group name
  for group in kubepods node; do
    [ ! -e "$groups/$group" ] || echo 1 >"$groups/$group/cgroup.kill"
  done
  [ ${#daemon[@]} = 0 ] || wait "${daemon[@]}" 2>/dev/null || true
  daemon=()
  for name in $(ip netns list | sed -n 's/^\(cni-[^ ]*\).*/\1/p'); do ip netns delete "$name"; done
  awk '$5 ~ "^/run/containerd/" {print $5}' /proc/self/mountinfo | sort -r | xargs -r umount --lazy
  rm -rf /run/{containerd,ibpod,cdi}
}

# The state that pods may change on the node, which must be as before once they are gone. The cluster's bridge stays.
infiniband_state() { nodestate | grep -v '^link host br0 '; }

# --- what the kubelet knows ---------------------------------------------------------------------------------------------

checkpoint_file=/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint
checkpoint() { jq "$@" "$checkpoint_file"; } # JQ-ARGUMENT...

# The healthy VFs.
offered() { checkpoint -r --arg resource "$resource" '.Data.RegisteredDevices[$resource] // [] | sort | join(" ")'; }
# A checkpoint of the kubelet before this one says nothing about this one, which knows no VF at first.
offers() { [ "$checkpoint_file" -nt "$here/kubelet.begun" ] && [ "$(offered)" = "$*" ]; } # VF...

# Looks on beside the case, until its end: whenever the kubelet has VFs at all, it has no fewer than that.
start_watching() { # NUMBER
  at_end touch "$WORK/capacity.end"
  watch_capacity "$1" &
  watcher=$!
}

watch_capacity() { # NUMBER
  local now
  until [ -e "$WORK/capacity.end" ]; do
    now=$(offered 2>/dev/null | wc -w) || true
    if [ "$now" -gt 0 ] && [ "$now" -lt "$1" ]; then echo "$now" >>"$WORK/capacity.low"; fi
    sleep .2
  done
}

expect_capacity_kept() {
  touch "$WORK/capacity.end"
  wait "$watcher"
  [ ! -e "$WORK/capacity.low" ] || fail "the kubelet had only so many VFs: $(sort -u "$WORK/capacity.low" | xargs)"
}
