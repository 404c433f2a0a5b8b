#!/bin/bash
# The SM service, OpenSM, the agent (also to come again at once) or the network between them goes away at a step of a DEL: it answers, and the VF waits until it is clean.
# deadline: 900
# complaint: infiniband softhca_[0-9]+: Couldn't open port 1
. "$ROOT/tests/vm/path_faults.sh"

mapfile -t sampled < <(sample 2 "${outages[@]}")
outages_in_del "${sampled[@]}"
