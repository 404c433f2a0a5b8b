#!/bin/bash
# The partition comes two seconds after ADD began: it waits and succeeds.
# quick: ADD waits for its partition
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 1 1)
set_static_guid 1 1 02:00:00:00:00:00:02:01
new_pod p1
conf "$vf" '.pkey = "0x8001"'
lacks_pkey host "$vf" 0x8001 || fail "the partition is there already"
cp "$partitions" "$WORK/before"
(sleep 2 && partition blue 0x0001 02:00:00:00:00:00:02:01=full) &
late=$!
at_end restore_late
restore_late() {
  cp "$WORK/before" "$partitions"
  reload_opensm
}
begin=$(milliseconds)
add p1
took=$(($(milliseconds) - begin))
[ "$took" -gt 1500 ] || fail "ADD did not wait: $took ms"
wait "$late" || fail "the partition"
expect_log "partition 0x8001 is verified: 0x8001, full member, at index 1"
must CHECK p1
del p1
