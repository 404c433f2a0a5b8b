#!/bin/bash
# ADD is killed while a slow IPAM plugin works for it: the plugin dies with it, and no address stays allocated.
# quick: an ADD that is killed in its IPAM plugin leaves no address
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
new_pod p1
conf "$vf" ".guid = \"02:00:00:00:00:00:aa:01\" | .link_state = \"auto\" | .rdmaIsolation = true | $lease"
remember_node
mkdir "$WORK/leases"
touch "$WORK/leases/slow"
aside add call ADD p1
adding=$!
wait_for 30 test -s "$WORK/leases/asked"
kill -9 "$(<"$WORK/leases/asked")"
wait "$adding" || true
del p1
rm "$WORK/leases/slow"
expect_unchanged "the killed ADD and its DEL"
no_ipam() { ! pgrep -f "$ROOT/tests/vm/ipam/lease"; }
wait_for 5 no_ipam
expect_eq "leases" "$(cd "$WORK/leases" && ls)" "$(printf 'asked\ncalls')"
