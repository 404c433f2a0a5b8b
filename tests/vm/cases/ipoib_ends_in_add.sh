#!/bin/bash
# ipoib: a pod that ends while its ADD waits, for the P_Key or for carrier, leaves no child and no record.
. "$ROOT/tests/vm/ipoib.sh"

blue
remember_node
adding() { # FILTER: begins an ADD for a pod p1
  new_pod p1
  child_conf p1 0 "del(.ipam) | .timeoutSeconds = 8 | $1"
  aside p1 call ADD p1
}
is_recorded() { [ -n "$(find /var/lib/ibpod/attachments -name 'p1:net1.json')" ]; }
has_child() { [ -n "$(ip -n p1 -o link show type ipoib)" ]; }
nothing_left() { expect_eq "children on the host" "$(children)" "" && expect_unchanged "an ADD whose pod has ended"; }

say "for the P_Key"
adding '.pkey = "0x8005"'
wait_for 10 is_recorded
ip netns delete p1
wait $! || true
nothing_left

say "for carrier"
# Nobody answers the child's request to join.
stop_opensm
at_end plain_opensm
adding .
wait_for 10 has_child
ip netns delete p1
wait $! || true
run_opensm
nothing_left
