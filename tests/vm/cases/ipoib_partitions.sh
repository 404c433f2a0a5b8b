#!/bin/bash
# ipoib: pods of one partition on two adapters reach each other, by IPv4 and IPv6; one of another partition reaches neither.
# quick: IPoIB children keep partitions apart
. "$ROOT/tests/vm/ipoib.sh"

blue
partition red 0x0002 "${pf_guid[0]}=full" "${pf_guid[1]}=full"
wait_for 10 has_pkey host "$PF0" 0x8002
for pod in p1 p2 p3 p4; do new_pod "$pod"; done
attach p1 0
expect_result '.interfaces[0] | .name == "net1" and (.mac | length) == 59 and .sandbox == "/run/netns/p1"'
expect_result '.ips | length == 2'
attach p2 1
attach p3 0 '.pkey = "0x8002"'
attach p4 0

say "two adapters"
reaches p2 10.9.0.1
reaches p2 fd09::1
say "one adapter"
reaches p4 10.9.0.1
reaches p4 fd09::1
say "another partition"
for pod in p1 p2 p4; do
  expect_unreached p3 "10.9.0.${pod#p}"
  expect_unreached p3 "fd09::${pod#p}"
done
expect_eq "children on the host" "$(children)" ""
for pod in p1 p2 p3 p4; do
  cp "$WORK/$pod/conf" "$WORK/conf"
  must CHECK "$pod"
done
detach p1 p2 p3 p4
# The interface is the only thing that was made of it.
expect_eq "interfaces left in p1" "$(ip -n p1 -o link show type ipoib)" ""
