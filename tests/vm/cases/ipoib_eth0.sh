#!/bin/bash
# ipoib: a pod's only interface, eth0, with addresses of host-local.
# quick: an IPoIB child may be the pod's only interface
. "$ROOT/tests/vm/ipoib.sh"

new_pod p1
conf "$PF0" "del(.deviceID) | .master = \"$(pf_netdev 0)\" | $host_local | .ipam.routes = [{dst: \"0.0.0.0/0\"}] | .dns = {nameservers: [\"10.7.0.1\"]}"
cni ADD p1 eth0 <"$WORK/conf"
[ "$rc" = 0 ] || fail "ADD: $err"
expect_result '.interfaces[0].name == "eth0" and .ips[0].gateway == "10.7.0.1" and .dns.nameservers == ["10.7.0.1"]'
expect_match "the default route" "$(ip -n p1 route show default)" "default via 10.7.0.1 dev eth0*"
cni CHECK p1 eth0 <"$WORK/conf"
[ "$rc" = 0 ] || fail "CHECK: $err"
cni DEL p1 eth0 <"$WORK/conf"
[ "$rc" = 0 ] || fail "DEL: $err"
expect_eq "leases" "$(find "$WORK/leases" -name '10.*')" ""
