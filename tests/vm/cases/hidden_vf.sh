#!/bin/bash
# The parts of its VF that a pod has hidden come back to the host or end with DEL: the interface, the RDMA device, and an IPoIB child on it.
# deadline: 180
# kernels: 6.1 7
. "$ROOT/tests/vm/lib.sh"
. "$ROOT/tests/vm/hidden.sh"

set_static_guid 0 1 00:11:22:33:44:55:66:71
pci=$(vf_pci 0 1)
new_pod p1

say "the interface"
conf "$pci" '.rdmaIsolation = false'
remember_node
add p1
hide
ip -n p1 link set net1 down
ip -n p1 link set net1 netns "$hider" name eth0
del p1
expect_empty
end_hider
expect_unchanged "ADD, hiding, DEL"

say "an IPoIB child on it, which would go on over the next pod's port"
add p1
hide
ip -n p1 link add link net1 name kid type ipoib pkey 0x8001
ip -n p1 link set kid netns "$hider" name eth0
hidden ip link set eth0 up
del p1
expect_empty
end_hider
expect_unchanged "ADD, hiding, DEL"

say "nothing hidden: no VF is bound again"
before=$(binding "$pci")
number=$(cat "/sys/class/net/$(netdev host "$pci")/ifindex")
add p1
del p1
expect_eq "the interface" "$(cat "/sys/class/net/$(netdev host "$pci")/ifindex")" "$number"
expect_eq "the driver" "$(binding "$pci")" "$before"

say "the RDMA device"
conf "$pci" '.rdmaIsolation = true'
add p1
hide
ip netns attach deeper "$hider" # rdma takes a name alone
ip netns exec p1 rdma dev set "$(rdma_device p1 "$pci")" netns deeper
ip netns delete deeper
del p1
expect_empty
expect_eq "RDMA devices in there" "$(hidden rdma dev)" ""
end_hider
expect_unchanged "ADD, hiding, DEL"
