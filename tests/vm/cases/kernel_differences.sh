#!/bin/bash
# Each kernel does what docs/kernel-notes.md says about it, also those in which kernels differ.
# kernels: 6.1 7
. "$ROOT/tests/vm/lib.sh"

case $KERNEL in
  6.1) rename_up=refused names=everywhere moved=host ;;
  6.12) rename_up=allowed names=everywhere moved=host ;;
  7) rename_up=allowed names=namespace moved=pod ;;
  *) skip "the notes say nothing of kernel $KERNEL" ;;
esac

vf=$(vf_pci 0 1)
set_static_guid 0 1 02:00:00:00:00:00:01:01
new_pod p1

say "an interface that is up is renamed: $rename_up"
net=$(netdev host "$vf")
rename() { ip link set "$1" name "$2"; } # OLD NEW
ip link set "$net" up
if [ "$rename_up" = refused ]; then
  expect_refused "*Device or resource busy" rename "$net" other0
else
  rename "$net" other0
  rename other0 "$net"
fi
ip link set "$net" down

say "the netdev of an RDMA device that moves is created again in the namespace of: $moved"
device=$(rdma_device host "$vf")
at_end rebind "$vf"
rdma dev set "$device" netns p1
appeared() { [ -n "$(netdev host "$vf")$(netdev p1 "$vf")" ]; }
wait_for 10 appeared
if [ -n "$(netdev host "$vf")" ]; then where=host; else where=pod; fi
expect_eq "where it is" "$where" "$moved"

say "an RDMA device's name is unique in its: $names"
taken=$(rdma_device host "$PF0")
rename_rdma() { ip netns exec p1 rdma dev set "$1" name "$2"; } # OLD NEW
if [ "$names" = everywhere ]; then
  expect_refused "*File exists" rename_rdma "$device" "$taken"
else
  rename_rdma "$device" "$taken"
  expect_refused "*File exists" ip netns exec p1 rdma dev set "$taken" netns ../../proc/1/ns/net # relative to /run/netns
  rename_rdma "$taken" "$device"
fi
