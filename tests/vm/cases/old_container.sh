#!/bin/bash
# A late DEL of the container that had the VF before leaves the one that has it now alone.
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
conf "$vf" '.guid = "02:00:00:00:00:00:aa:01" | .rdmaIsolation = true'
new_pod old
new_pod new
add old
del old
add new
remember_node
before="$(binding "$vf") $(rdma_device new "$vf")"
del old
del old CNI_NETNS=
ip netns delete old
del old
make_netns old
expect_unchanged "a DEL of the old container"
expect_eq "binding and RDMA device" "$(binding "$vf") $(rdma_device new "$vf")" "$before"
expect_eq "the interface" "$(netdev new "$vf")" net1
must CHECK new
del new
