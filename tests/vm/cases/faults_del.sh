#!/bin/bash
# Whichever step of DEL fails or is the plugin's last: DEL again, or GC, puts the node back.
# deadline: 480 4700
# full: faults-del
. "$ROOT/tests/vm/vf_faults.sh"

fault_loop_over DEL
