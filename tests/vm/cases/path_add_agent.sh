#!/bin/bash
# The node's agent goes away at each step of an ADD: nobody gets in where he does not belong.
# deadline: 4700
# complaint: infiniband softhca_[0-9]+: Couldn't open port 1
# lane: path-add-agent
. "$ROOT/tests/vm/path_faults.sh"

outages_in_add agent
