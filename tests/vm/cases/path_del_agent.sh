#!/bin/bash
# The node's agent goes away at each step of a DEL: it answers, and the VF waits until it is clean.
# deadline: 4700
# lane: path-del-agent
. "$ROOT/tests/vm/path_faults.sh"

outages_in_del agent
