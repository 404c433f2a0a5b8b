#!/bin/bash
# Other keys in the VF's table are warned of; 0xffff is open to every port.
# quick: other keys of a port are warned of
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 1 1)
set_static_guid 1 1 02:00:00:00:00:00:02:01
new_pod p1
partition blue 0x0001 02:00:00:00:00:00:02:01=full
partition red 0x0002 02:00:00:00:00:00:02:01=limited
partition everybody 0x7fff 02:00:00:00:00:00:02:01=full
wait_for 10 has_pkey host "$vf" 0xffff
conf "$vf" '.pkey = "0x8001"'
add p1
expect_log "the port is also in another partition: 0xffff at index 0, open to every port"
expect_log "the port is also in another partition: 0x0002 at index 2"
del p1
