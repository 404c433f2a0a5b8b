#!/bin/bash
# The partition is not in the port's table: error 11 with port state, GUID and table; nothing is left.
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 1 1)
set_static_guid 1 1 02:00:00:00:00:00:02:01
new_pod p1
conf "$vf" '.pkey = "0x8001" | .timeoutSeconds = 2'
remember_node
call ADD p1
expect_error 11 "timed out waiting for P_Key 0x8001: the P_Key table of port GUID 02:00:00:00:00:00:02:01 does not contain it as full member*"
expect_match "details" "$(jq -r .details <<<"$out")" "port state ACTIVE, LID *, port GUID 02:00:00:00:00:00:02:01, P_Key table: 0:0x7fff, timeoutSeconds of this network is *"
expect_unchanged "a refused ADD"
del p1
expect_unchanged "its DEL"

say "the port is down"
set_policy 1 1 disable
wait_for 10 is_down host "$vf"
call ADD p1
expect_error 11 "*the port is DOWN, not ACTIVE*"
expect_match "details" "$(jq -r .details <<<"$out")" "port state DOWN, LID *"
set_policy 1 1 auto
expect_unchanged "a refused ADD"
