#!/bin/bash
# GC leaves another network's pods and living ones alone, and releases a pod whose namespace is gone, with its address.
# quick: GC releases what is dead, and nothing else
. "$ROOT/tests/vm/lib.sh"

new_pod other
new_pod gone
new_pod alive
remember_node

conf "$(vf_pci 0 0)" ".name = \"othernet\" | .guid = \"02:00:00:00:00:00:aa:00\""
cp "$WORK/conf" "$WORK/othernet"
add other
conf "$(vf_pci 0 1)" ".guid = \"02:00:00:00:00:00:aa:01\" | .link_state = \"auto\" | .rdmaIsolation = true | $lease"
add gone
conf "$(vf_pci 0 2)" ".guid = \"02:00:00:00:00:00:aa:02\" | .link_state = \"auto\" | $lease"
add alive
ip netns delete gone
ip netns delete other

say "both other's and gone's namespaces are away; alive is not said to be valid, but its namespace lives"
gc
expect_eq "leases" "$(cd "$WORK/leases" && ls -- *:*)" alive:net1
expect_eq "records" "$(cd /var/lib/ibpod/attachments && find . -name '*.json' -printf '%f\n' | sort | xargs)" \
  "alive:net1.json other:net1.json"
expect_eq "gone's VF on the host" "$(netdev host "$(vf_pci 0 1)" | wc -w)" 1
expect_eq "alive's interface" "$(netdev alive "$(vf_pci 0 2)")" net1

say "GC of the other network; one that is said to be valid stays"
cp "$WORK/othernet" "$WORK/conf"
gc other
expect_eq "other's record" "$(find /var/lib/ibpod/attachments -name 'other:*' | wc -l)" 1
gc
expect_eq "other's record" "$(find /var/lib/ibpod/attachments -name 'other:*' | wc -l)" 0

conf "$(vf_pci 0 2)" "$lease"
del alive
make_netns other
make_netns gone
expect_unchanged "all of it"
