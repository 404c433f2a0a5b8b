#!/bin/bash
# The SM service, OpenSM, the agent (also to come again at once) or the network between them goes away at a step of an ADD and of a DEL: nobody gets in where he does not belong, and the VF waits until it is clean.
# deadline: 900
# complaint: infiniband softhca_[0-9]+: Couldn't open port 1
. "$ROOT/tests/vm/path_faults.sh"

mapfile -t sampled < <(sample 2 "${outages[@]}")
prepare_tenants
try_in_add "${sampled[0]}"
try_in_del "${sampled[1]}"
stop_all_probers
end_tenants
echo "note: seed $SEED: ${sampled[0]} away in an ADD, ${sampled[1]} in a DEL; $joined pods joined all the same, $kept times the VF had to wait, $missed steps not come to"
expect_outages "$((joined + kept))"
