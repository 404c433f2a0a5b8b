#!/bin/bash
# Bit 15 asks for full membership; without it either will do, and the log says which one it is.
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 1 1)
set_static_guid 1 1 02:00:00:00:00:00:02:01
new_pod p1
partition blue 0x0001 02:00:00:00:00:00:02:01=limited
wait_for 5 has_pkey host "$vf" 0x0001

conf "$vf" '.pkey = "0x8001" | .timeoutSeconds = 2'
call ADD p1
expect_error 11 "*does not contain it as full member*"
conf "$vf" '.pkey = "0x1"'
add p1
expect_log "partition 0x0001 is verified: 0x0001, limited member, at index 1"
del p1

partition blue 0x0001 02:00:00:00:00:00:02:01=full
wait_for 5 has_pkey host "$vf" 0x8001
add p1
expect_log "partition 0x0001 is verified: 0x8001, full member, at index 1"
del p1
