#!/bin/bash
# An ADD that is killed while the kernel binds its VF for a GUID of the pod's choice: its partition ends, and the VF is whole and clean.
# complaint: infiniband softhca_[0-9]+: Couldn't open port 1
# deadline: 200
. "$ROOT/tests/vm/agent.sh"
. "$ROOT/tests/vm/sm.sh"
. "$ROOT/tests/vm/stepping.sh"

vf=$(vf_pci 0 1)
guid=02:00:00:00:00:00:01:01
set_static_guid 0 1 "$guid"
make_certificates 127.0.0.1
sm_conf "$for_nodes | .guids = [{first: \"0x0200000000000a01\", last: \"0x0200000000000aff\", chosenBy: [\"default\"]}]" "$guid"
start_sm
sm partition create blue --pkey 0x0001 --membership full --index0 --ipoib yes --allow default
start_marking_agent "$by_tls"
new_pod p1
conf "$vf" '.rdmaIsolation = true | .partition = "blue" | .guid = "02:00:00:00:00:00:0a:07"'

kill_in_kernel ADD p1
expect_eq "records" "$(records)" p1:net1

say "its end"
del p1
is_over() { has_records "" && [ "$(sm --json binding list | jq length)" = 0 ] && has_mad_agent "$vf" && is_active host "$vf"; }
wait_for 60 is_over
lacks_pkey host "$vf" 0x8001 || fail "the key is left: $(pkeys host "$vf")"
expect_eq "its GUID" "$(port_guid host "$vf")" 0200:0000:0000:0101

say "the next pod"
add p1
expect_match "P_Keys" "$(pkeys p1 "$vf")" "0:0x8001*"
del p1
wait_for 30 has_records ""
