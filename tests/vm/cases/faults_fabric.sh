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
reload_opensm # a sweep, which would bring the port up
is_down host "$a" || fail "the port came up by itself"
no_fault "$a" down
wait_for 10 is_active host "$a"

say "ten per cent of the packets lost"
lost() { awk -F, '{print $8}' /sys/module/softhca/parameters/drops; }
fault "$a" lose_packets 10
before=$(lost)
pingpong rc "$a" "$b" --iters 50 || fail "$(cat "$WORK/client")"
# With two hundred packets and more, none is lost once in a thousand million runs.
[ "$(lost)" -gt "$before" ] || fail "nothing was lost"

say "all packets lost"
fault "$a" lose_packets 100
timed pingpong rc "$a" "$b" --iters 50
[ "$status" != 0 ] || fail "it got through"
expect_match "ibv_rc_pingpong" "$(cat "$WORK/client" "$WORK/server")" "*transport retry counter exceeded*"
# Eight timeouts of 4.096 us << 14.
[ "$took" -ge 536 ] || fail "it gave up after $took ms"
no_fault "$a" lose_packets

say "MADs lost"
fault "$b" lose_mads 100
expect_no_answer "$sm" "$(path_to "$b")" 0x11 0
fault "$b" lose_mads 30
answered=0 tries=20
for ((i = 0; i < tries; i++)); do
  if SMP_TIMEOUT_MS=500 smp "$sm" "$(path_to "$b")" 0x11 0 >/dev/null; then answered=$((answered + 1)); fi
done
# Either way once in half a million runs.
[ "$answered" -gt 0 ] || fail "none of $tries requests is answered with 30 % lost"
[ "$answered" -lt "$tries" ] || fail "all of $tries requests are answered with 30 % lost"
no_fault "$b" lose_mads

say "the agent of one port is silent"
fault "$b" freeze_sma 1
expect_no_answer "$sm" "$(path_to "$b")" 0x11 0
smp "$sm" "$(path_to "$a")" 0x11 0 >/dev/null || fail "the other port's is silent, too"
no_fault "$b" freeze_sma
smp "$sm" "$(path_to "$b")" 0x11 0 >/dev/null || fail "it stays silent"

say "delay"
wait_for 20 is_active host "$a"
wait_for 20 is_active host "$b"
timed pingpong rc "$a" "$b" --iters 20
plain=$took
fault "$a" delay_ms 100
timed pingpong rc "$a" "$b" --iters 20
expect_eq "ibv_rc_pingpong" "$status" 0
# Each of forty messages, or its acknowledgement, passes the slow port. What the rest takes is the machine's affair.
[ "$took" -ge 4000 ] || fail "twenty messages each way took $took ms, and $plain ms without delay"
fault "$a" delay_ms 1000
expect_no_answer "$sm" "$(path_to "$a")" 0x11 0
smp "$sm" "$(path_to "$a")" 0x11 0 >/dev/null || fail "it stays silent"
