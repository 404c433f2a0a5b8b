#!/bin/bash
# The node's agent is killed and started anew at each step of an ADD: nobody gets in where he does not belong.
# deadline: 4700
# lane: path-add-restart
. "$ROOT/tests/vm/path_faults.sh"

outages_in_add restart
