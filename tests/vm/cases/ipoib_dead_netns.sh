#!/bin/bash
# ipoib: a pod that dies without DEL leaves its child to the host; GC removes it, and nobody else's.
. "$ROOT/tests/vm/ipoib.sh"

blue
for pod in p1 p2 p3; do new_pod "$pod"; done
# On both adapters: each counts its queue pairs by itself, so that one of these may have the number of a pod's child.
for pf in 0 1; do
  ip link add link "$(pf_netdev $pf)" name "ibadmin$pf" type ipoib pkey 0x8001
  at_end ip link delete "ibadmin$pf"
done
admins=$(children)
expect_eq "children on the host" "$admins" "$(printf 'ibadmin0\nibadmin1')"
# GC came with 1.1.0.
plain='.cniVersion = "1.1.0" | del(.ipam)'
attach p1 0 "$plain"
attach p2 0 "$plain"
attach p3 0 "$plain"
# The second one has been at its interface, as root in its namespace may.
ip -n p2 link set net1 down
ip -n p2 link set net1 name mine alias nobody
ip netns delete p1
ip netns delete p2
returned() { [ "$(children | wc -l)" = 4 ]; }
wait_for 20 returned

gc p3
expect_eq "children on the host" "$(children)" "$admins"
expect_eq "records" "$(find /var/lib/ibpod/attachments -name '*.json' -printf '%f\n')" p3:net1.json

say "DEL of one whose namespace is gone"
ip netns delete p3
detach p3
gone() { [ "$(children)" = "$admins" ]; }
wait_for 5 gone
