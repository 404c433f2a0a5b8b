#!/bin/bash
# RDMA in shared mode: the pod gets the interface, everyone sees the RDMA device; isolation is refused with the remedy.
# kernels: 6.1 7
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 2)
rdma_mode shared
set_static_guid 0 2 02:00:00:00:00:00:01:02
device=$(rdma_device host "$vf")
new_pod p1

say "isolation"
remember_node
conf "$vf" '.rdmaIsolation = true'
refuse 104 "rdmaIsolation: *shared mode*ib_core netns_mode=0*" p1
call STATUS p1
expect_error 50 "*shared mode*"
expect_unchanged "a refused ADD"

say "none"
conf "$vf"
call STATUS p1
expect_eq "STATUS" "$rc" 0
add p1
expect_match "the pod's interface" "$(netdev p1 "$vf")" net1
expect_match "RDMA devices that the pod sees" "$(ip netns exec p1 rdma dev)" "*$device*"
expect_match "RDMA devices that the host sees" "$(rdma dev)" "*$device*"
must CHECK p1

say "what the kernel refuses in this mode, and while a pod lives"
expect_refused "*Operation not supported" rdma dev set "$device" netns p1
expect_refused "*Device or resource busy" rdma system set netns exclusive
del p1
expect_unchanged "ADD and DEL"
