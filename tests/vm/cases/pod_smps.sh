#!/bin/bash
# Root of a pod and subnet management: by default it is given no umad and no issm and can open none; with umad it reaches ports by its own device alone, and their M_Keys let it set nothing.
# deadline: 300
# lane: attacks
# shellcheck disable=SC2016
. "$ROOT/tests/vm/agent.sh"
. "$ROOT/tests/vm/sm.sh"

vf=$(vf_pci 0 1) other=$(vf_pci 1 1)
set_static_guid 0 1 02:00:00:00:00:00:01:01
set_static_guid 1 1 02:00:00:00:00:00:02:01
key=00c0ffee00c0ffee
portinfo=0x15 pkeytable=0x16

# A container's device cgroup: any node may be made, those of the container and of its device may be opened.
groups=$WORK/devices
mkdir "$groups"
mount -t cgroup -o devices devices "$groups"
at_end umount "$groups"
mkdir "$groups/pod"
at_end rmdir "$groups/pod"
numbers() { echo $((0x$(stat -c %t "$1"))):$((0x$(stat -c %T "$1"))); } # NODE
nodes_of() { find "/sys/bus/pci/devices/$vf/"infiniband_{verbs,mad} -mindepth 1 -maxdepth 1 -name "$1[0-9]*" -printf "%f\n"; } # CLASS
contain() { # CLASS...: the nodes of these classes that the device has, now that it is in the pod
  local class node
  echo a >"$groups/pod/devices.deny"
  for node in "c *:* m" "b *:* m" "c 1:* rwm" "c 5:* rwm"; do echo "$node" >"$groups/pod/devices.allow"; done
  for class; do
    if [ "$class" = rdma_cm ]; then node=rdma_cm; else node=$(nodes_of "$class"); fi
    echo "c $(numbers "/dev/infiniband/$node") rw" >"$groups/pod/devices.allow"
  done
}
# The classes of the nodes in the device's CDI file.
given() { jq -r '.devices[].containerEdits.deviceNodes[].path' "$WORK"/cdi/*"$vf.json" | sed -E 's|.*/||; s/[0-9]+$//' | xargs; }
are_given() { [ "$(given)" = "$1" ]; } # "CLASS..."
in_pod() { ip netns exec p1 "$@"; } # COMMAND...: of root with all capabilities, and every device
in_container() { bash -c 'echo $$ >"$0/pod/tasks" && exec "$@"' "$groups" ip netns exec p1 "$@"; } # COMMAND...

at_end tail -n 12 "$WORK/agent.log"
(umask 077; echo "0x$key" >"$WORK/m_key")
sm_conf ".opensm.mKeyFile = \"$WORK/m_key\" | .opensm.mKeyProtection = 1" 02:00:00:00:00:00:01:01 02:00:00:00:00:00:02:01
start_sm
at_end forget_keys "$key" "$vf" "$other" "$PF0" "$PF1"
at_end end_opensm
at_end end_sm
sm partition create blue --pkey 0x0001 --membership full --index0 --allow default >/dev/null
sm partition create red --pkey 0x0002 --membership full --index0 --allow default >/dev/null
expect_match "the pod's binding" "$(ask_bind p1 02:00:00:00:00:00:01:01 30 blue)" "verified *"
expect_match "the other's binding" "$(ask_bind p2 02:00:00:00:00:00:02:01 30 red)" "verified *"

say "what a pod is given: no umad and no issm, unless deviceNodes says so, which is told"
agent_conf .
start_agent
wait_for 20 are_given "rdma_cm uverbs"
if grep "can send management packets" "$WORK/agent.log"; then fail "the agent warns of nothing"; fi
agent_conf '.resourceList[0].deviceNodes = ["uverbs", "umad"]'
wait_for 20 are_given "umad uverbs"
wait_for 20 grep -q "deviceNodes.*can send management packets" "$WORK/agent.log"
end_agent TERM
new_pod p1
conf "$vf" '.rdmaIsolation = true'
add p1
device=$(rdma_device p1 "$vf")

say "no umad, no issm: also those that root makes itself cannot be opened"
contain rdma_cm uverbs
expect_match "the device in the container" "$(in_container ibv_devinfo)" "*hca_id:*$device*PORT_ACTIVE*"
numbers=()
for node in /dev/infiniband/{umad,issm}*; do numbers+=("$(numbers "$node")"); done
in_container bash -c 'for number; do mknod node c ${number/:/ } && : <node; rm node; done' - "${numbers[@]}" >"$WORK/opened" 2>&1 || true
expect_eq "nodes that were refused" "$(grep -c "node: Operation not permitted" "$WORK/opened")" ${#numbers[@]}
expect_refused "smp: open: Operation not permitted" in_container smp "$device" 0 $pkeytable 0

say "with umad: no other device by it, and no issm"
contain uverbs umad
for pci in "$PF0" "$PF1" "$other"; do
  # In its cgroup, and without: a privileged container.
  for way in in_container in_pod; do
    expect_refused "smp: open: Operation not permitted" $way smp "$(rdma_device host "$pci")" 0 $pkeytable 0
  done
done
expect_refused "*Operation not permitted*" in_container dd if="/dev/infiniband/$(nodes_of issm)" of=/dev/null count=0

say "what it can ask it cannot set: its own port, another one, the switch; by directed route and by LID"
lid_of() { echo "lid:$(within "$1" sh -c 'cat /sys/bus/pci/devices/$0/infiniband/*/ports/1/lid' "$2")"; } # POD PCI
violations() { echo $((0x$(piece "$(M_KEY=0x$key smp "$(rdma_device host "$PF0")" "$(path_to "$1")" $portinfo 1)" 44 2))); } # PCI
ask() { in_container smp "$device" "$@"; } # PLACE ATTRIBUTE MODIFIER [DATA]
# The answer without the number of violations that PortInfo has.
shown() { patch "$(ask "$@")" 44 0000; } # PLACE ATTRIBUTE MODIFIER
unable() { # PLACE ATTRIBUTE MODIFIER OFFSET BYTES
  local now
  now=$(shown "$1" "$2" "$3")
  SMP_TIMEOUT_MS=500 expect_refused "no answer" ask "$1" "$2" "$3" "$(patch "$now" "$4" "$5")"
  expect_eq "attribute $2 of $1" "$(shown "$1" "$2" "$3")" "$now"
}
expect_eq "the pod's keys" "$(pkeys p1 "$vf" | cut -d' ' -f1)" 0:0x8001
for place in "0 $vf" "$(lid_of p1 "$vf") $vf" "$(path_to "$other") $other" "$(lid_of host "$other") $other"; do
  pci=${place#* } place=${place% *}
  before=$(violations "$pci")
  unable "$place" $pkeytable 0 2 8002
  M_KEY=0x1 unable "$place" $portinfo 1 0 0000000000000001 # an M_Key of its own, guessed
  [ "$(violations "$pci")" -ge $((before + 2)) ] || fail "$place: $before violations, then $(violations "$pci")"
done
unable 0,1 $portinfo 1 43 00 # a switch port that does not check P_Keys
expect_eq "the pod's keys" "$(pkeys p1 "$vf" | cut -d' ' -f1)" 0:0x8001
expect_eq "the other's keys" "$(pkeys host "$other" | cut -d' ' -f1)" 0:0x8002

say "it is the M_Key that refused: who knows it may"
table=$(ask "$(path_to "$other")" $pkeytable 0)
M_KEY=0x$key ask "$(path_to "$other")" $pkeytable 0 "$(patch "$table" 4 8077)" >/dev/null
wait_for 5 has_pkey host "$other" 0x8077
M_KEY=0x$key ask "$(path_to "$other")" $pkeytable 0 "$table" >/dev/null
del p1
expect_match "unbind" "$(ask_unbind p1 30)" "*"
expect_match "unbind" "$(ask_unbind p2 30)" "*"
