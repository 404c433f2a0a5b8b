#!/bin/bash
# What a pod has hidden of its VF comes home or ends with DEL: the interface, the RDMA device, and an IPoIB child on it.
# deadline: 180
# kernels: 6.1 7
. "$ROOT/tests/vm/lib.sh"

set_static_guid 0 1 00:11:22:33:44:55:66:71
pci=$(vf_pci 0 1)
new_pod p1

# A process of the pod in a network namespace of its own, which no path leads to.
hide() {
  ip netns exec p1 unshare --net sleep 1000 &
  hider=$!
  at_end end_hider
  wait_for 5 is_apart
}
is_apart() { [ "$(readlink "/proc/$hider/ns/net")" != "$(ip netns exec p1 readlink /proc/self/ns/net)" ] && [ "$(<"/proc/$hider/comm")" = sleep ]; }
end_hider() { kill "$hider" 2>/dev/null || true; wait "$hider" 2>/dev/null || true; }
hidden() { nsenter --net="/proc/$hider/ns/net" "$@"; }
expect_empty() { expect_eq "what is left in there" "$(hidden ip -o link show type ipoib)" ""; }

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

say "nothing hidden: nothing is bound anew"
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
