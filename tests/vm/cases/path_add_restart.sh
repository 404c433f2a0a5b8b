#!/bin/bash
# The node's agent is killed and started again at each step of an ADD: no pod gets into a partition that it does not belong to.
# deadline: 4700
# complaint: infiniband softhca_[0-9]+: Couldn't open port 1
# lane: path-add-restart
. "$ROOT/tests/vm/path_faults.sh"

outages_in_add restart
