#!/bin/bash
# RDMA devices and netdevs survive many moves between namespaces.
# machine: multi
# deadline: 120 900
# full: moves
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
moves=10
[ "$FULL" = 0 ] || moves=400
at_end delete_pod mover
set_static_guid 0 1 00:11:22:33:44:55:66:71

is_back() { [ -n "$(rdma_device host "$vf")" ] && [ -n "$(netdev host "$vf")" ]; }

for ((i = 0; i < moves; i++)); do
  ip netns add mover
  device=$(rdma_device host "$vf")
  rdma dev set "$device" netns mover
  # Up to 6.16 the netdev re-appears on the host, later in the pod.
  net=$(netdev host "$vf")
  [ -z "$net" ] || ip link set "$net" netns mover
  expect_eq "RDMA device in the pod" "$(rdma_device mover "$vf")" "$device"
  expect_match "netdev in the pod" "$(netdev mover "$vf")" "ib*"
  # Every other time the device comes back by itself, with the namespace's end.
  if ((i % 2)); then
    ip netns exec mover rdma dev set "$device" netns ../../proc/1/ns/net # relative to /run/netns
  fi
  ip netns delete mover
  wait_for 10 is_back
done
wait_for 10 is_active host "$vf"
echo "$moves moves"
