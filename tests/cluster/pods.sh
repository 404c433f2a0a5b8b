# Pods of the node of node.sh: files that the kubelet reads. Sourced by it.
# A pod's name is used once in a boot: its UID comes of its text, and one that comes back soon meets what is left of itself.
# shellcheck shell=bash disable=SC2016,SC2154

# Its one container prints its VFs and the verbs devices that it sees, as "MAJOR:MINOR", with the result of opening
# them, and goes on. Then it makes nodes of all device numbers that the kernel has, which its cgroup must not let it
# open.
introduction='
echo "has $PCIDEVICE_IBPOD_IO_IB_VF"
for device in /dev/infiniband/uverbs*; do
  [ -e "$device" ] || continue
  number=$(stat -c %t:%T "$device")
  if { true <>"$device"; } 2>/dev/null; then echo "opens $number"; else echo "cannot open $number"; fi
done
i=192
while [ $i -lt 224 ]; do
  mknod /tmp/device c 231 $i || echo "forces nothing, as it can make no node"
  if { true <>/tmp/device; } 2>/dev/null; then echo "forces $(stat -c %t:%T /tmp/device)"; fi
  rm -f /tmp/device
  i=$((i + 1))
done
echo ready
exec sleep 1000000'

# Written beside its place: the kubelet takes no name with a dot at its front.
pod() { # NAME [VFS]
  jq -n --arg name "$1" --argjson vfs "${2:-0}" --arg resource "$resource" --arg script "$introduction" '{
    apiVersion: "v1", kind: "Pod", metadata: {name: $name, namespace: "default"},
    spec: {terminationGracePeriodSeconds: 1, containers: [{
      name: "c", image: "localhost/busybox:1", command: ["sh", "-c", $script],
      resources: (if $vfs > 0 then {limits: {($resource): $vfs}} else {} end)}]}}' >"$here/pods/.$1"
  mv "$here/pods/.$1" "$here/pods/$1.json"
}

delete() { rm "$here/pods/$1.json"; } # POD: as a forced deletion does, it waits for nothing

# --- what the kubelet says ----------------------------------------------------------------------------------------------

pods() { curl -sf -m 10 http://127.0.0.1:10255/pods; }
# A pod's namespace goes behind the DELs, its tasks before them.
no_pod() { pods | jq -e '.items // [] | length == 0' && ip netns list >"$WORK/netns" && ! grep -q ^cni- "$WORK/netns"; }
ask_pod() { # POD FILTER: of its object
  pods | jq -er --arg name "$1-$node" "(.items // [])[] | select(.metadata.name == \$name) | $2"
}
is_gone() { pods >"$WORK/pods" && ! jq -e --arg name "$1-$node" 'any((.items // [])[]; .metadata.name == $name)' "$WORK/pods"; } # POD

# Its container runs, and has said all it has to say.
runs() { # POD
  ask_pod "$1" '.status.containerStatuses | any(.state.running)' && [ "$(said "$1" | tail -n 1)" = ready ]
}
restarts() { ask_pod "$1" '.status.containerStatuses[0].restartCount'; } # POD
has_restarted() { [ "$(restarts "$1")" -gt "$2" ] && runs "$1"; }       # POD BEFORE

# The last lines of its container's log of now.
said() { # POD
  local logs=(/var/log/pods/default_"$1-$node"_*/c/*.log)
  cut -d' ' -f4- "${logs[-1]}"
}
says() { said "$1" | sed -n "s/^$2 //p" | xargs; } # POD WORD: what follows it

# --- processes and namespaces -------------------------------------------------------------------------------------------

process_in() { head -n 1 "$(find "$groups/kubepods" -type d -name "$1")/cgroup.procs"; } # CONTAINER-ID
container_process() { process_in "$(ask_pod "$1" '.status.containerStatuses[0].containerID' | sed 's,.*//,,')"; } # POD
netns_of() { ip netns identify "$(container_process "$1")"; } # POD: its name, for within()

# --- what we know -------------------------------------------------------------------------------------------------------

record_of() { # POD: its attachments' records, the content of each on a line
  find "$records" -name '*.json' -exec jq -c --arg name "$1-$node" '.attachment | select(.pod.name == $name)' {} +
}
vf_of() { record_of "$1" | jq -r .device; } # POD
sandbox_of() { record_of "$1" | jq -r .containerID; } # POD

# A pod has the VF that the kubelet gave to it, whole and alone: the interface with an address, the RDMA device, and of all
# verbs devices its own.
expect_given() { # POD
  local netns vf device number
  vf=$(vf_of "$1")
  netns=$(netns_of "$1")
  expect_eq "the VF that $1 was told of" "$(says "$1" has)" "$vf"
  expect_eq "the interface of $1" "$(netdev "$netns" "$vf")" "$pod_interface"
  expect_match "its address" "$(ip -n "$netns" -o -4 address show dev "$pod_interface" | awk '{print $4}')" "10.56.*/16"
  expect_eq "RDMA devices in $1" "$(ip netns exec "$netns" rdma dev | wc -l)" 1
  device=$(cat "/sys/bus/pci/devices/$vf/infiniband_verbs/"*/dev)
  number=$(printf '%x:%x' "${device%:*}" "${device#*:}")
  expect_eq "what $1 opens" "$(says "$1" opens)" "$number"
  expect_eq "what $1 opens by nodes that it has made" "$(says "$1" forces)" "$number"
  expect_eq "what $1 has and cannot open" "$(says "$1" 'cannot open')" ""
}

# The properties of a pod that must not change while it is left alone.
identity_of() { # POD
  local netns
  netns=$(netns_of "$1")
  echo "$1: process $(container_process "$1"), sandbox $(sandbox_of "$1"), VF $(vf_of "$1"), namespace $netns"
  ip -n "$netns" -o address show dev "$pod_interface" | grep -v fe80 || true
  ip netns exec "$netns" rdma dev
}
