#!/bin/bash
# DEL after the pod's namespace is gone: all is given back.
# quick: DEL gives all back when the pod's namespace is gone
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
new_pod p1
remember_node
for isolation in true false; do
  say "isolation $isolation"
  conf "$vf" ".guid = \"02:00:00:00:00:00:aa:01\" | .link_state = \"auto\" | .rdmaIsolation = $isolation | $lease"
  add p1
  ip netns delete p1
  del p1
  expect_eq "leases" "$(ls "$WORK/leases")" calls
  make_netns p1
  expect_unchanged "ADD and DEL"
done
