#!/bin/bash
# With isolation the kernel makes every device again, and each still gets back its names, MTU, GUIDs (node and port differ) and policy.
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
set_static_guid 0 1 02:00:00:00:00:00:01:01
ip link set "$(pf_netdev 0)" vf 1 node_guid 02:00:00:00:00:00:00:77
rebind "$vf"
set_policy 0 1 enable
wait_for 10 is_active host "$vf"
net=$(netdev host "$vf")
ip link set "$net" down
ip link set "$net" name ibp0v1
ip link property add dev ibp0v1 altname storage0
ip link set ibp0v1 mtu 1500
rdma dev set "$(rdma_device host "$vf")" name vf_one
new_pod p1

facts() {
  told 0 1
  cat "/sys/bus/pci/devices/$vf/infiniband/vf_one/node_guid"
  ip link show ibp0v1 | sed -E 's/^[0-9]+: //; s#infiniband ..:..:..:..#infiniband#'
}
before=$(facts)
for ask in '.guid = "02:00:00:00:00:00:aa:01"' '.mtu = 1400'; do
  say "$ask"
  conf "$vf" "$ask"' | .rdmaIsolation = true | .link_state = "auto"'
  add p1
  expect_eq "RDMA devices in the pod" "$(rdma_device p1 "$vf" | wc -w)" 1
  expect_eq "RDMA devices on the host" "$(rdma_device host "$vf")" ""
  del p1
  expect_eq "the VF" "$(facts)" "$before"
done
