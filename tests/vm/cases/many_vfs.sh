#!/bin/bash
# Thirty-two VFs on each PF: the kernel's answer about them is larger than a page, and nothing minds.
# machine: many
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 31)
new_pod p1
remember_node
conf "$vf" '.guid = "02:00:00:00:00:00:aa:1f" | .link_state = "auto" | .rdmaIsolation = true'
add p1
expect_eq "port GUID" "$(port_guid p1 "$vf")" 0200:0000:0000:aa1f
expect_match "what the PF was told" "$(told 0 31)" "*PORT_GUID 02:00:00:00:00:00:aa:1f*link-state auto*"
must CHECK p1
del p1
expect_unchanged "ADD and DEL"
