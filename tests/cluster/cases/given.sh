#!/bin/bash
# A pod that asks for a VF gets it, found by ib-sriov itself; one that does not starts unharmed; all is given back.
# deadline: 600
# machine: cluster
. "$ROOT/tests/cluster/node.sh"

start_node 2
infiniband_state >"$WORK/before"
pod plain
pod one 1
wait_for 180 runs plain
wait_for 180 runs one

expect_given one
expect_eq "records of the pod without a VF" "$(record_of plain)" ""
expect_eq "its interfaces" "$(ip -n "$(netns_of plain)" -o link show | awk -F': |@' '{print $2}' | xargs)" "lo eth0"
expect_eq "its VFs" "$(says plain has)" ""
expect_eq "its verbs devices" "$(says plain opens)$(says plain 'cannot open')$(says plain forces)" ""
expect_eq "restarts of either" "$(restarts plain) $(restarts one)" "0 0"

say "the pods go"
delete plain
delete one
wait_for 180 no_pod
is_as_before() { infiniband_state >"$WORK/after" && diff "$WORK/before" "$WORK/after"; }
(wait_for 90 is_as_before) || { is_as_before; fail "pods have changed the node"; }
