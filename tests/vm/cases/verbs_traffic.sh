#!/bin/bash
# Two pods of one PF talk over every transport that there is, and in both modes of IPoIB; always through the switch.
# deadline: 240
# shellcheck disable=SC2016
. "$ROOT/tests/vm/programs.sh"

number_vfs p1=0.1 p2=0.2 p3=1.1
partition blue "0x0001, indx0" "${guid[p1]}=full" "${guid[p2]}=full" "${guid[p3]}=full"
connect_pods p1 p2 p3
for pod in p1 p2 p3; do attach_pod "$pod" 0x8001; done

say "RC, UC, UD, atomic operations, the connection manager"
expect_talk p2 ibv_rc_pingpong ibv_uc_pingpong ibv_ud_pingpong ib_atomic_lat rping

say "IPoIB, with packets of sixty thousand bytes"
large_ping() { ip netns exec p2 ping -c 1 -W 3 -s 60000 "$@" 10.8.0.1; } # OPTION...
mode() { # datagram|connected MTU
  local pod
  for pod in p1 p2; do
    within "$pod" sh -c 'echo "$0" >/sys/class/net/net1/mode' "$1"
    ip -n "$pod" link set net1 mtu "$2"
  done
}
# Before the way is known only three pieces wait for it.
wait_for 20 large_ping
mode connected 65520
wait_for 20 large_ping -M 'do'
mode datagram 2044
wait_for 20 large_ping

say "multicast"
heard() { # whether what is said once more has been enough
  timeout 20 ip netns exec p2 mckey -m 239.1.1.1 -b 10.8.0.2 -C 3 -s >"$WORK/speaker" 2>&1
  [ -z "$(jobs -r)" ]
}
listeners=()
for pod in p1 p3; do
  timeout 60 ip netns exec "$pod" mckey -m 239.1.1.1 -b "10.8.0.${pod#p}" -C 3 >"$WORK/listener.$pod" 2>&1 &
  listeners+=($!)
done
# Packets that are sent before the switch knows the group are lost.
wait_for 30 heard
for listener in "${listeners[@]}"; do wait "$listener" || { cat "$WORK"/listener.*; fail "a listener: exit $?"; }; done

say "through the switch, though both are VFs of one PF"
fault "${vf[p2]}" lose_packets 100
expect_silence p2 ping ibv_rc_pingpong rping
no_fault "${vf[p2]}" lose_packets

detach_pods p1 p2 p3
