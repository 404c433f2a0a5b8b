#!/bin/bash
# A VF that already has its GUID is not bound again, whether the network requests that GUID or none.
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
set_static_guid 0 1 02:00:00:00:00:00:01:01
new_pod p1
remember_node
state() { echo "$(binding "$vf") $(rdma_device host "$vf") $(ls "/sys/bus/pci/devices/$vf/infiniband_verbs")"; }
before=$(state)
for ask in . '.guid = "02:00:00:00:00:00:01:01"'; do
  conf "$vf" "$ask"
  add p1
  expect_eq "binding and names after ADD" "$(state)" "$before"
  del p1
  expect_eq "binding and names after DEL" "$(state)" "$before"
done
expect_unchanged "ADD and DEL"
