#!/bin/bash
# A pod gets a VF with the GUID asked for, its RDMA device, an address from host-local; DEL gives all of it back.
# kernels: 6.1 7
# quick: a pod gets its VF, GUID, RDMA device and address, and all of it is given back
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 0)
set_static_guid 0 0 02:00:00:00:00:00:01:01
new_pod p1
conf "$vf" ".guid = \"02:00:00:00:00:00:aa:01\" | .link_state = \"auto\" | .rdmaIsolation = true | $host_local"
remember_node
add p1
expect_eq "port GUID" "$(port_guid p1 "$vf")" 0200:0000:0000:aa01
expect_eq "RDMA devices in the pod" "$(ip netns exec p1 rdma dev | wc -l)" 1
expect_eq "RDMA devices of the VF on the host" "$(rdma_device host "$vf")" ""
expect_eq "the pod's interface" "$(netdev p1 "$vf")" net1
expect_eq "its address" "$(ip -n p1 -o -4 address show net1 | awk '{print $4}')" 10.7.0.2/24
expect_refused "*Device or resource busy" rdma system set netns shared
expect_result '.ips[0].address == "10.7.0.2/24" and .ips[0].interface == 0'
del p1
expect_unchanged "ADD and DEL"
expect_eq "addresses still reserved" "$(find "$WORK/leases" -name '10.7*' | wc -l)" 0
