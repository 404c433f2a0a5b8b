#!/bin/bash
# ipoib: pods live through their master going down and up, and through their P_Key leaving the port's table and coming back.
. "$ROOT/tests/vm/ipoib.sh"

blue
for pod in p1 p2; do new_pod "$pod"; done
attach p1 0
attach p2 1
reaches p2 10.9.0.1

say "the master goes down and up"
master=$(pf_netdev 0)
ip link set "$master" down
at_end ip link set "$master" up
# The kernel takes the children with it, in pods too; what is gone then of their addresses does not come back.
went_down() { [ -z "$(ip -n "$1" -br link show dev net1 up)" ]; } # POD
wait_for 5 went_down p1
ip link set "$master" up
reaches p2 10.9.0.1
expect_eq "p1's IPv6 addresses" "$(ip -n p1 -6 -br address show dev net1 scope global)" ""

say "the P_Key leaves the table"
detach p1
attach p1 0
partition blue 0x0003 "${pf_guid[0]}=full" "${pf_guid[1]}=full"
wait_for 10 lacks_pkey host "$PF0" 0x8001
expect_unreached p2 10.9.0.1
# The kernel tells the interface of it in the background.
wait_for 10 within p1 grep -qx 0 /sys/class/net/net1/carrier
cp "$WORK/p1/conf" "$WORK/conf"
call CHECK p1
expect_error 106 "net1 has no carrier"

say "and comes back"
blue
reaches p2 10.9.0.1
detach p1 p2
