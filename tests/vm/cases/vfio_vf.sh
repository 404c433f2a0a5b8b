#!/bin/bash
# A VF on vfio-pci: its GUID is set through the PF without a bind, addresses are reserved, and all is given back.
# quick: a VF on vfio-pci gets its GUID and is given back
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
. "$ROOT/tests/vm/vfio.sh"
say "vfioPciMode, but it is not on vfio-pci"
new_pod p1
conf "$vf" '.vfioPciMode = true'
refuse 7 "vfioPciMode: deviceID $vf is bound to softhca, not to vfio-pci*" p1

at_end take_back
give_to vfio-pci
expect_match "its group" "$(readlink "/sys/bus/pci/devices/$vf/iommu_group")" "*/iommu_groups/*"
remember_node
bound=$(binding "$vf")
for mode in '.vfioPciMode = true' .; do
  say "$mode"
  conf "$vf" "$mode | .guid = \"02:00:00:00:00:00:aa:01\" | .link_state = \"auto\" | .pkey = \"0x8001\" | $lease"
  add p1
  expect_match "what the PF was told" "$(told 0 1)" "*NODE_GUID 02:00:00:00:00:00:aa:01*PORT_GUID 02:00:00:00:00:00:aa:01*link-state auto*"
  expect_log "partition 0x8001 is not verified"
  expect_result '.ibpod.pkeys == {"0x8001": "not verified"}'
  expect_result ".interfaces == [{name: \"net1\", sandbox: \"/run/netns/p1\", pciID: \"$vf\"}] and .ips[0].address == \"10.9.0.1/24\""
  expect_eq "links in the pod" "$(ip -n p1 -o link | wc -l)" 1
  keep_result
  must CHECK p1
  del p1
  expect_eq "binding" "$(binding "$vf")" "$bound"
  expect_eq "leases" "$(ls "$WORK/leases")" calls
  expect_unchanged "ADD and DEL"
done
