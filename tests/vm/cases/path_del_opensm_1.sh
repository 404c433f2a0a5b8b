#!/bin/bash
# OpenSM goes away at each odd step of a DEL: it answers, and the VF waits until it is clean.
# deadline: 4700
# lane: path-del-opensm-1
. "$ROOT/tests/vm/path_faults.sh"

# shellcheck disable=SC2034 # for path_faults.sh
first_step=1 stride=2
outages_in_del opensm
