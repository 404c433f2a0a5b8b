#!/bin/bash
# Whichever step of ADD fails or is the plugin's last: DEL, or GC without any DEL, puts the node back.
# deadline: 480 4700
# full: faults-add
# quick: an ADD that fails at a step leaves the node as it was
. "$ROOT/tests/vm/vf_faults.sh"

fault_loop_over ADD
