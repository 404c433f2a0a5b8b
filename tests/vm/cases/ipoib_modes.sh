#!/bin/bash
# ipoib: both modes, with their largest packets; an MTU that the mode or the port does not allow is refused and leaves nothing.
. "$ROOT/tests/vm/ipoib.sh"

blue
for pod in p1 p2; do new_pod "$pod"; done

umcast() { ip -n p1 -d -o link show net1 | sed -nE 's/.* umcast +0*([01]) .*/\1/p'; }
expect_mtu() { expect_eq "MTU" "$(ip netns exec p1 cat /sys/class/net/net1/mtu)" "$1"; }

say "connected"
attach p1 0 '.mode = "connected" | .mtu = 65520'
expect_mtu 65520
attach p2 1 '.mode = "connected" | .mtu = 65520'
reaches p2 10.9.0.1
wait_for 20 ip netns exec p2 ping -c 1 -W 3 -M 'do' -s 60000 10.9.0.1
detach p1 p2

say "datagram"
attach p1 0 '.mode = "datagram" | .mtu = 1500 | .umcast = false'
expect_mtu 1500
expect_eq "umcast" "$(umcast)" 0
attach p2 1 '.mode = "datagram"'
reaches p2 10.9.0.1
detach p1 p2
attach p1 0
attach p2 1
expect_eq "umcast" "$(umcast)" 1
expect_mtu 2044
wait_for 20 ip netns exec p2 ping -c 1 -W 3 -M 'do' -s $((2044 - 28)) 10.9.0.1
detach p1 p2

say "too large"
child_conf p1 0 '.mode = "datagram" | .mtu = 4093'
cp "$WORK/p1/conf" "$WORK/conf"
refuse 7 "mtu: 4093 exceeds the limit of datagram mode (4092)*" p1
