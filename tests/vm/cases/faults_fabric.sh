#!/bin/bash
# Faults that debugfs makes: a port down, lost packets and MADs, delay, an agent that is silent. RC gets over what real RC does.
. "$ROOT/tests/vm/lib.sh"

a=$(vf_pci 0 1) b=$(vf_pci 1 1)
set_static_guid 0 1 02:00:00:00:00:00:01:01
set_static_guid 1 1 02:00:00:00:00:00:02:01
partition everybody 0x7fff 02:00:00:00:00:00:02:01=full 02:00:00:00:00:00:01:01=full
sm=$(rdma_device host "$PF0")

timed() { # COMMAND...: sets took and status
  local begin
  begin=$(milliseconds) status=0
  "$@" || status=$?
  took=$(($(milliseconds) - begin))
}

say "port down and up"
fault "$a" down 1
wait_for 5 is_down host "$a"
sleep 2
is_down host "$a" || fail "the port came up by itself"
no_fault "$a" down
wait_for 10 is_active host "$a"

say "ten per cent of the packets lost"
pingpong "$a" "$b" --iters 50 || fail "$(cat "$WORK/client")"
fault "$a" lose_packets 10
timed pingpong "$a" "$b" --iters 50
expect_eq "ibv_rc_pingpong" "$status" 0
echo "took $took ms"

say "all packets lost"
fault "$a" lose_packets 100
timed pingpong "$a" "$b" --iters 50
[ "$status" != 0 ] || fail "it got through"
expect_match "ibv_rc_pingpong" "$(cat "$WORK/client" "$WORK/server")" "*transport retry counter exceeded*"
# Eight tries, each with a timeout of 4.096 us << 14.
[ "$took" -ge 500 ] || fail "it gave up after $took ms"
no_fault "$a" lose_packets

say "MADs lost"
fault "$b" lose_mads 100
expect_refused "*" smpquery -C "$sm" -t 200 -D nodeinfo "$(path_to "$b")"
fault "$b" lose_mads 30
answered=0
for _ in 1 2 3 4 5 6 7 8; do
  if smp "$sm" "$(path_to "$b")" 0x11 0 >/dev/null; then answered=$((answered + 1)); fi
done
[ "$answered" -gt 0 ] || fail "none of eight requests is answered with 30 % lost"
no_fault "$b" lose_mads

say "the agent of one port is silent"
fault "$b" freeze_sma 1
expect_refused "no answer" smp "$sm" "$(path_to "$b")" 0x11 0
smp "$sm" "$(path_to "$a")" 0x11 0 >/dev/null || fail "the other port's is silent, too"
no_fault "$b" freeze_sma
smp "$sm" "$(path_to "$b")" 0x11 0 >/dev/null || fail "it stays silent"

say "delay"
wait_for 20 is_active host "$a"
wait_for 20 is_active host "$b"
fault "$a" delay_ms 50
timed pingpong "$a" "$b" --iters 20
expect_eq "ibv_rc_pingpong" "$status" 0
[ "$took" -ge 1000 ] || fail "twenty messages took only $took ms"
timed smp "$sm" "$(path_to "$a")" 0x11 0
[ "$took" -ge 50 ] || fail "an answer took only $took ms"
expect_eq "smp" "$status" 0
