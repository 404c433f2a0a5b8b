#!/bin/bash
# No path leads to the pod's namespace any more, but a process keeps it alive: the VF is fetched back by its PCI address.
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
new_pod p1
remember_node
for isolation in true false; do
  say "isolation $isolation"
  conf "$vf" ".guid = \"02:00:00:00:00:00:aa:01\" | .rdmaIsolation = $isolation"
  add p1
  ip netns exec p1 sleep 1000 &
  keeper=$!
  inside() { [ "$(readlink "/proc/$keeper/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }
  wait_for 5 inside
  ip netns delete p1
  if [ "$isolation" = true ]; then
    expect_eq "the VF's RDMA device on the host" "$(rdma_device host "$vf")" ""
  fi
  del p1
  kill "$keeper"
  wait "$keeper" 2>/dev/null || true
  make_netns p1
  expect_unchanged "ADD and DEL"
done
