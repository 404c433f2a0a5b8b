#!/bin/bash
# containerd says DEL again later, with an empty CNI_NETNS and no prevResult, and also where there was no ADD.
# quick: a DEL that comes twice, late or without a namespace does no harm
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
new_pod p1
remember_node

say "no ADD before"
conf "$vf" ".guid = \"02:00:00:00:00:00:aa:01\" | .link_state = \"auto\" | .rdmaIsolation = true | $lease"
del p1
del p1 CNI_NETNS=
expect_unchanged "a DEL without ADD"

say "the only DEL has no namespace"
add p1
del p1 CNI_NETNS=
expect_unchanged "ADD and DEL"

say "twice, and again later"
add p1
del p1
del p1
ip netns delete p1
del p1 CNI_NETNS=
make_netns p1
expect_unchanged "ADD and DELs"
expect_eq "leases" "$(ls "$WORK/leases")" calls
