#!/bin/bash
# A forced deletion: the only VF goes to the next pod before the old one's DEL; each has it whole, one after the other.
# deadline: 900
# machine: cluster
. "$ROOT/tests/cluster/node.sh"

start_node 1
pod first 1
wait_for 180 runs first
sandbox=$(sandbox_of first)

# The kubelet gives the VF away with the file.
delete first
pod heir 1
wait_for 150 runs heir
expect_given heir
expect_eq "the heir's VF" "$(vf_of heir)" "${vfs[0]}"
expect_eq "records of the first" "$(record_of first)" ""
identity_of heir >"$WORK/heir"

say "the late DELs"
calls_for_first() { jq -r --arg id "$sandbox" 'select(.containerID == $id) | .command' "$here/log/ib-sriov"; }
has_no_container() { [ -z "$(ctr -n k8s.io containers list -q "id==$sandbox")" ]; }
wait_for 150 has_no_container
expect_match "calls for the first" "$(calls_for_first | xargs)" "ADD*DEL*"
identity_of heir | diff "$WORK/heir" - || fail "a late DEL has touched the heir"
expect_given heir
