#!/bin/bash
# Thirty-two VFs on each PF: the kernel's answer about them is larger than a page, and nothing minds.
# machine: many
. "$ROOT/tests/vm/lib.sh"

expect_eq "RDMA devices" "$(rdma dev | wc -l)" 66
new_pod p1
remember_node
for pf in 0 1; do
  say "the last VF of PF $pf"
  vf=$(vf_pci "$pf" 31)
  conf "$vf" '.guid = "02:00:00:00:00:00:aa:1f" | .link_state = "auto" | .rdmaIsolation = true'
  add p1
  expect_eq "port GUID" "$(port_guid p1 "$vf")" 0200:0000:0000:aa1f
  expect_match "the settings in the PF" "$(told "$pf" 31)" "*PORT_GUID 02:00:00:00:00:00:aa:1f*link-state auto*"
  must CHECK p1
  del p1
  expect_unchanged "ADD and DEL"
done
