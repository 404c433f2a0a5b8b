#!/bin/bash
# The node has two adapters whose ports OpenSM brought up, and VFs as fresh as from a real one: without a GUID, dead.
# first: yes
. "$ROOT/tests/vm/lib.sh"

is_active host "$PF0" || fail "PF 0 is not active"
is_active host "$PF1" || fail "PF 1 is not active"
expect_eq "P_Keys of PF 0, where the subnet manager runs" "$(pkeys host "$PF0")" "0:0xffff"
expect_eq "P_Keys of PF 1" "$(pkeys host "$PF1")" "0:0x7fff"

vfs=$(ip -d link show "$(pf_netdev 0)" | grep -c '^ *vf ')
expect_eq "VFs on PF 0" "$vfs" 8
vf=$(vf_pci 0 3)
expect_match "netdev of a VF" "$(netdev host "$vf")" "ib*"
expect_eq "port of a VF without GUID" "$(port_state host "$vf")" "1: DOWN"
expect_match "its GUIDs and policy" "$(ip -d link show "$(pf_netdev 0)" | grep 'vf 3 ')" \
  "*NODE_GUID 00:00:00:00:00:00:00:00*PORT_GUID 00:00:00:00:00:00:00:00*link-state disable*"

# Each reload waits for a sweep of the subnet manager, which would bring the port up.
at_end set_policy 0 3 disable
for policy in enable auto; do
  say "its policy is $policy"
  set_policy 0 3 "$policy"
  reload_opensm
  expect_eq "port of a VF without GUID" "$(port_state host "$vf")" "1: DOWN"
  expect_eq "who answers" "$(answering)" "0x0002c90300000100 0x0002c90300000200"
done
