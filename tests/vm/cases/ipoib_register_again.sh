#!/bin/bash
# A subnet manager has a node register again, as one that has just begun does, and answers nothing: IPoIB sends nothing more to its
# neighbours, keeps three packets for each, and drops the rest, until there is an answer.
. "$ROOT/tests/vm/lib.sh"

sm=$(rdma_device host "$PF0") vf=$(vf_pci 0 1)
address() { echo ".cniVersion = \"1.0.0\" | .rdmaIsolation = true | .ipam = {type: \"static\", addresses: [{address: \"10.8.0.$1/24\"}]}"; }
# Two limited members could not talk.
partition everybody 0x7fff 02:00:00:00:00:00:02:01=full 02:00:00:00:00:00:01:01=full
set_static_guid 0 1 02:00:00:00:00:00:01:01
set_static_guid 1 1 02:00:00:00:00:00:02:01
new_pod far
new_pod near
conf "$(vf_pci 1 1)" "$(address 9)"
add far
cp "$WORK/conf" "$WORK/far"
conf "$vf" "$(address 1)"
add near
reaches() { ip netns exec near ping -q -c 1 -W 1 10.8.0.9; }
answered() { ip netns exec near ping -q -c 10 -i 0.2 -W 1 10.8.0.9 | sed -n 's/.*, \([0-9]*\) received.*/\1/p'; } # of ten
wait_for 10 reaches
dropped() { within near cat /sys/class/net/net1/statistics/tx_dropped; }

say "it is asked for nothing while it only stands still"
pkill -STOP -x opensm
at_end pkill -CONT -x opensm
expect_eq "answered" "$(answered)" 10

say "the subnet manager has asked for a new registration"
before=$(dropped)
info=$(smp "$sm" "$(path_to "$vf")" 0x15 1)
smp "$sm" "$(path_to "$vf")" 0x15 1 "$(patch "$info" 51 92)" >/dev/null
# The kernel tells IPoIB of it in the background.
unreached() { ! reaches; }
wait_for 10 unreached
expect_eq "answered" "$(answered)" 0
now=$(dropped)
[ "$now" -gt "$before" ] || fail "no packet was dropped: $now, as before"

say "it answers"
pkill -CONT -x opensm
wait_for 20 reaches
expect_eq "answered" "$(answered)" 10
del near
cp "$WORK/far" "$WORK/conf"
del far
