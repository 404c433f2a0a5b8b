#!/bin/bash
# ipoib: DEL removes the child with an empty CNI_NETNS, twice, after the namespace has died, and never another attachment's.
. "$ROOT/tests/vm/ipoib.sh"

blue
new_pod p1
child_conf p1 0 ".cniVersion = \"1.1.0\" | $lease"
cp "$WORK/p1/conf" "$WORK/conf"
remember_node

say "no ADD before"
del p1
del p1 CNI_NETNS=
expect_unchanged "a DEL without ADD"

say "the only DEL has no namespace"
add p1
del p1 CNI_NETNS=
expect_unchanged "ADD and DEL"

say "the namespace has died"
add p1
ip netns delete p1
del p1 CNI_NETNS=
make_netns p1
expect_unchanged "ADD, the end of the pod, and DEL"

say "of another container, with this one's namespace"
add p1
del p1 CNI_CONTAINERID=late
must CHECK p1
del p1
expect_unchanged "ADD and DELs"
expect_eq "leases" "$(ls "$WORK/leases")" calls
