# Two nodes on one machine, each with a PF and an agent of its own, and pods on them. Two nodes' state would be in one folder:
# each has its own here, which the calls of its plugins name. Sourced after sm.sh.
# shellcheck shell=bash disable=SC2016,SC2034,SC2154

. "$ROOT/tests/vm/stage.sh"

declare -A pf_of=([node-a]=$PF0 [node-b]=$PF1)
declare -A node_of vf address # of a pod; its namespace is team-PARTITION, and it is called PARTITION-NUMBER

node_conf() { # NODE
  mkdir -p "$1"
  jq -n --arg work "$WORK" --arg own "$WORK/$1" --arg pf "${pf_of[$1]}" --arg bin "$IBPOD_BIN" '{
    pfs: [{rootDevices: [$pf], numVfs: 2}],
    resourceList: [{resourceName: "ib_vf", selectors: [{rootDevices: [$pf]}]}],
    fabrics: [{service: "127.0.0.1:7473", certificate: "\($own).crt", key: "\($own).key", ca: "\($work)/ca.crt"}],
    kubelet: false, stateDir: "\($own)/state", agentSocket: "\($own)/agent.sock", metricsAddress: "unix:\($own)/metrics.sock",
    cniBinDir: $bin, hostMountNamespace: "", cdiDir: "\($own)/cdi", deviceInfoDir: "\($own)/devinfo"}' >"$1.json"
}

start_node() { # NODE
  ibpod-agent --config "$1.json" --node "$1" >>"$1.log" 2>&1 &
  at_end end_node $!
}
end_node() { # PID
  kill "$1"
  wait "$1" || true
}

devices_of() { ibpodctl --socket "$1/agent.sock" --json devices; } # NODE
has_vfs() { # NODE
  [ "$(devices_of "$1" | jq '[.[] | select(.resource == "ibpod.io/ib_vf" and .healthy and .state == "ACTIVE")] | length')" = 2 ]
}

# --- pods -------------------------------------------------------------------------------------------------------------

# The time line is made of what the plugins log.
node_config '{logLevel: "debug"}'

cast() { # POD NODE PF.VF ADDRESS
  node_of[$1]=$2 vf[$1]=$(vf_pci "${3%.*}" "${3#*.}") address[$1]=$4
  network_of "$1" >"$1.conf"
}

# The cluster's own network, over which programs tell each other where they are.
lay_wire() {
  new_pod wire
  ip -n wire link add bridge type bridge
  ip -n wire link set bridge up
}

on_wire() { echo "192.168.7.${address[$1]##*.}"; } # POD

plug_in() { # POD
  new_pod "$1"
  ip link add eth0 netns "$1" type veth peer name "$1" netns wire
  ip -n wire link set "$1" master bridge up
  ip -n "$1" address add "$(on_wire "$1")/24" dev eth0
  ip -n "$1" link set eth0 up
}

network_of() { # POD
  jq -n --arg partition "${1%-*}" --arg vf "${vf[$1]}" --arg address "${address[$1]}" '{
    cniVersion: "1.0.0", name: $partition, type: "ib-sriov", partition: $partition, deviceID: $vf, rdmaIsolation: true,
    ipam: {type: "static", addresses: [{address: "\($address)/24"}]}}'
}

# The output is in POD.result, the log in POD.log; the times of the call and of its end in $began and $ended.
call_plugin() { # ADD|DEL POD
  local status=0 arguments="IgnoreUnknown=1;K8S_POD_NAMESPACE=team-${2%-*};K8S_POD_NAME=$2" state=$WORK/${node_of[$2]}/state
  typed "IBPOD_STATE_DIR=$state CNI_COMMAND=$1 CNI_CONTAINERID=$2 CNI_NETNS=/run/netns/$2 CNI_IFNAME=net1 CNI_ARGS='$arguments' ib-sriov <$2.conf"
  began=${EPOCHREALTIME/./}
  IBPOD_STATE_DIR=$state CNI_COMMAND=$1 CNI_CONTAINERID=$2 CNI_NETNS=/run/netns/$2 CNI_IFNAME=net1 CNI_ARGS=$arguments \
    ib-sriov <"$2.conf" >"$2.result" 2>"$2.log" || status=$?
  ended=${EPOCHREALTIME/./}
  [ "$status" = 0 ] || give_up "$1 of $2: $(cat "$2.result")"
}

attach() { # POD TABLE: what its port's table is to hold, and nothing else
  call_plugin ADD "$1"
  claim "$1 is on ${node_of[$1]} after $(((ended - began) / 1000)) ms; its port's P_Key table is $2" has_table "$1" "${vf[$1]}" "$2"
}

sees_one_device() { [ "$(within "$1" rdma dev | wc -l)" = 1 ]; } # POD
has_table() { [ "$(pkeys "$1" "$2")" = "$3" ]; }                 # POD PCI TABLE

# The result of ib_write_bw from one pod to another; it fails as that does.
bandwidth() { # CLIENT SERVER
  local server status=0 command=(ib_write_bw -F -s 65536 -n 20)
  typed "ip netns exec $2 ${command[*]} &"
  timeout 60 ip netns exec "$2" "${command[@]}" >"$WORK/server" 2>&1 &
  server=$!
  wait_for 20 listens_tcp "$2"
  command+=("$(on_wire "$2")")
  typed "ip netns exec $1 ${command[*]}"
  timeout 60 ip netns exec "$1" "${command[@]}" >"$WORK/client" 2>&1 || status=$?
  grep -E '#bytes|^ *[0-9]+ |status' "$WORK/client" || cat "$WORK/client"
  kill "$server" 2>/dev/null || true
  wait "$server" || true
  return "$status"
}

# --- what ibpod-sm knows ----------------------------------------------------------------------------------------------

are_ready() { [ "$(ibpodctl --json partition list | jq '[.[] | select(.state == "ready")] | length')" = "$1" ]; } # NUMBER

# How many tables it has found changed, and how many repairs it has written: "FOUND WRITTEN".
mended() {
  curl -sf --unix-socket "$WORK/metrics.sock" http://sm/metrics | awk '
    $1 == "ibpod_sm_drifts_total" {found = $2}
    $1 == "ibpod_sm_repairs_total{result=\"written\"}" {written = $2}
    END {print found + 0, written + 0}'
}
# One of each since. In all there may be more repairs: a new port may get its table from the service before OpenSM has come to it.
has_mended_once_since() { # BEFORE: what mended said then
  [ "$(mended)" = "$((${1% *} + 1)) $((${1#* } + 1))" ]
}
