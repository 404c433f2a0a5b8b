#!/bin/bash
# The GUID asked for is the pod's, on node and port; afterwards the VF has none again, all ones, and its port is down.
# quick: the GUID asked for is the pod's
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
name=$(rdma_device host "$vf")
new_pod p1
conf "$vf" '.guid = "02:00:00:00:00:00:aa:01" | .link_state = "auto"'
remember_node
add p1
expect_eq "port GUID" "$(port_guid host "$vf")" 0200:0000:0000:aa01
expect_eq "node GUID" "$(cat "/sys/bus/pci/devices/$vf/infiniband/"*/node_guid)" 0200:0000:0000:aa01
expect_match "what the PF was told" "$(told 0 1)" "*NODE_GUID 02:00:00:00:00:00:aa:01*PORT_GUID 02:00:00:00:00:00:aa:01*link-state auto*"
expect_match "the pod's interface" "$(ip -n p1 link show net1)" "*02:00:00:00:00:00:aa:01 brd*"
expect_result '.interfaces[0] | .mac | endswith("02:00:00:00:00:00:aa:01")'
expect_result '.interfaces[0] | .name == "net1" and .sandbox == "/run/netns/p1" and .mtu > 1000'
expect_result ".interfaces[0].pciID == \"$vf\""

del p1
expect_unchanged "ADD and DEL"
expect_match "what the PF was told" "$(told 0 1)" "*NODE_GUID ff:ff:ff:ff:ff:ff:ff:ff*PORT_GUID ff:ff:ff:ff:ff:ff:ff:ff*link-state disable*"
expect_eq "the port" "$(port_state host "$vf")" "1: DOWN"
expect_eq "the RDMA device's name" "$(rdma_device host "$vf")" "$name"

say "one with the bit of a group, as others draw them at random"
conf "$vf" '.guid = "59:ca:bb:00:97:92:74:5f" | .link_state = "auto"'
add p1
expect_eq "port GUID" "$(port_guid host "$vf")" 59ca:bb00:9792:745f
expect_match "the pod's interface" "$(ip -n p1 link show net1)" "*59:ca:bb:00:97:92:74:5f brd*"
del p1
expect_unchanged "ADD and DEL"
