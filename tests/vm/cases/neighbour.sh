#!/bin/bash
# The pod on a VF is replaced by another with the same addresses: neighbours that know the old queue pair learn the new one at
# once, and reach it.
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
static() { echo ".cniVersion = \"1.0.0\" | .ipam = {type: \"static\", addresses: [{address: \"10.8.0.$1/24\"}, {address: \"fd08::$1/64\"}]}"; }
address() { ip -n "$1" -br link show net1 | awk '{print $3}'; } # POD
knows() { # IP ADDRESS
  [[ $(ip -n far -o neighbour show to "$1" dev net1) == *"lladdr $2 "* ]]
}
# Two limited members could not talk.
partition everybody 0x7fff 02:00:00:00:00:00:02:01=full 02:00:00:00:00:00:01:01=full
set_static_guid 0 1 02:00:00:00:00:00:01:01
set_static_guid 1 1 02:00:00:00:00:00:02:01
new_pod far
conf "$(vf_pci 1 1)" "$(static 9)"
add far
cp "$WORK/conf" "$WORK/far"

new_pod old
new_pod new
# The RDMA device moves, so that the kernel makes the interface again.
conf "$vf" ".rdmaIsolation = true | $(static 1)"
add old
wait_for 10 ip netns exec far ping -c 1 -W 1 10.8.0.1
wait_for 10 ip netns exec far ping -c 1 -W 1 fd08::1
before=$(address old)
wait_for 5 knows 10.8.0.1 "$before"
wait_for 5 knows fd08::1 "$before"
del old
# As fresh as can be: nothing but an announcement replaces them before their time.
for ip in 10.8.0.1 fd08::1; do ip -n far neighbour replace "$ip" lladdr "$before" nud reachable dev net1; done

add new
now=$(address new)
[ "$now" != "$before" ] || fail "the address is the same as before, and shows nothing: $now"
# Long before the old entries would be doubted, which takes 15 s at the least.
wait_for 5 knows 10.8.0.1 "$now"
wait_for 5 knows fd08::1 "$now"
# One echo each, and it arrives. The answer may take a second longer: the pod has to find the way back, and the first
# packet to a multicast group, a neighbour solicitation, can be lost while the subnet manager opens the group.
ip netns exec far ping -c 1 -W 5 10.8.0.1
ip netns exec far ping -c 1 -W 5 fd08::1
del new
cp "$WORK/far" "$WORK/conf"
del far
