#!/bin/bash
# The SM service, OpenSM, the agent or the network between them goes away at a step of a DEL: it answers, and the VF waits until it is clean.
# deadline: 400
. "$ROOT/tests/vm/path_faults.sh"

outages_in_del "${outages[@]}"
