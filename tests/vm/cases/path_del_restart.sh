#!/bin/bash
# The node's agent is killed and started again at each step of a DEL: it answers, and the VF waits until it is clean.
# deadline: 4700
# complaint: infiniband softhca_[0-9]+: Couldn't open port 1
# lane: path-del-restart
. "$ROOT/tests/vm/path_faults.sh"

outages_in_del restart
