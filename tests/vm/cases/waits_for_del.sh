#!/bin/bash
# A VF whose last pod's DEL comes three seconds late: the next ADD waits for it and succeeds.
# quick: the next pod waits for the last one's DEL
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
set_static_guid 0 1 02:00:00:00:00:00:01:01
new_pod old
new_pod new
conf "$vf"
remember_node
add old
del_later() { sleep 3 && del old; }
aside old del_later
later=$!
begin=$(milliseconds)
add new
took=$(($(milliseconds) - begin))
wait "$later" || fail "DEL of the old pod"
[ "$took" -gt 2500 ] || fail "ADD did not wait: $took ms"
expect_eq "the VF's interface" "$(netdev new "$vf")" net1
del new
expect_unchanged "both pods"
