#!/bin/bash
# Without isolation the interface itself comes back: with its mode, umcast, MTU and altname, without the pod's IPoIB child; the
# administrator's child stays.
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
set_static_guid 0 1 02:00:00:00:00:00:01:01
new_pod p1
net=$(netdev host "$vf")
ip link property add dev "$net" altname storage0
ip link set "$net" mtu 1500
ip link add link "$net" name admin0 type ipoib pkey 0x8005
at_end ip link delete admin0

facts() {
  echo "$(netdev host "$vf") mode=$(<"/sys/class/net/$net/mode") umcast=$(<"/sys/class/net/$net/umcast")"
  ip link show "$net" | sed 's/qdisc [^ ]*//' # a move makes the kernel create it again
  ip -o link show type ipoib | grep -o 'admin0@[^:]*'
}
before=$(facts)
conf "$vf" '.mtu = 1400'
add p1
expect_match "the pod's interface" "$(ip -n p1 link show net1)" "*mtu 1400*"
expect_eq "altnames in the pod" "$(ip -n p1 link show net1 | grep -c altname || true)" 0

say "what a pod may do with it"
ip -n p1 link set net1 down
ip netns exec p1 sh -c 'echo connected >/sys/class/net/net1/mode; echo 1 >/sys/class/net/net1/umcast'
ip -n p1 link add link net1 name child type ipoib pkey 0x8006
ip -n p1 link set net1 name mine

del p1
expect_eq "the interface" "$(facts)" "$before"
expect_eq "the pod's child" "$(ip -o link show | grep -c child || true)" 0
