#!/bin/bash
# A VF takes the GUID that was set through its PF when it binds, and the subnet manager brings its port up.
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 2)
set_static_guid 0 2 00:11:22:33:44:55:66:77
expect_eq "port GUID" "$(port_guid host "$vf")" 0011:2233:4455:6677
expect_eq "node GUID" "$(cat /sys/bus/pci/devices/"$vf"/infiniband/*/node_guid)" 0011:2233:4455:6677

expect_eq "who answers" "$(answering)" "0x0002c90300000100 0x0002c90300000200 0x0011223344556677"

say "a member of a partition"
partition blue 0x0001 00:11:22:33:44:55:66:77=full
wait_for 5 has_pkey host "$vf" 0x8001

say "and no longer"
restore_partitions
wait_for 5 lacks_pkey host "$vf" 0x8001

say "taken back: no GUID, port down"
clear_guid 0 2
wait_for 5 is_down host "$vf"
for policy in enable auto; do
  set_policy 0 2 "$policy"
  reload_opensm
  expect_eq "port of a VF that is all ones, and $policy" "$(port_state host "$vf")" "1: DOWN"
  expect_eq "who answers" "$(answering)" "0x0002c90300000100 0x0002c90300000200"
done
set_policy 0 2 disable
