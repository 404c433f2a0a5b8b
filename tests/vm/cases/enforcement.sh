#!/bin/bash
# A node whose root puts another partition into its own P_Key table reaches no port there: the switch checks, and reports it.
# If OpenSM does not enable the check, it does reach them.
# deadline: 240
# kernels: 6.1 7
# quick: the switch enforces partitions against a node's root
. "$ROOT/tests/vm/lib.sh"

victim=$(vf_pci 0 1) intruder=$(vf_pci 1 1)
set_static_guid 0 1 02:00:00:00:00:00:01:01
set_static_guid 1 1 02:00:00:00:00:00:02:01
partition blue "0x0001, indx0" 02:00:00:00:00:00:01:01=full
partition red "0x0002, indx0" 02:00:00:00:00:00:02:01=full
wait_for 10 first_pkey_is host "$victim" 0x8001
wait_for 10 first_pkey_is host "$intruder" 0x8002

device=$(rdma_device host "$intruder")
intrude() {
  smp "$device" 0 0x16 0 "$(patch "$(smp "$device" 0 0x16 0)" 0 8001)" >/dev/null
  wait_for 5 first_pkey_is host "$intruder" 0x8001
}
sm=$(rdma_device host "$PF0") port=$(switch_port "$intruder")
portinfo() { smp "$sm" 0,1 0x15 "$port"; } # of the switch port that the intruder is at
violations() { echo $((0x$(piece "$(portinfo)" 46 2))); }
enforced() { echo $((0x$(piece "$(portinfo)" 43 1) >> 2 & 3)); }

# By RC, and by datagrams, which go another way through the switch. Nobody tells the sender of a datagram: it waits for ever.
declare -A patience=([rc]=60 [ud]=5)
expect_stopped() {
  local transport before told
  told=$(sent_by switch 259)
  for transport in rc ud; do
    before=$(violations)
    if PATIENCE=${patience[$transport]} pingpong "$transport" "$victim" "$intruder" --iters 100; then
      fail "$transport reaches the victim"
    fi
    expect_eq "the intruder's first key, by now" "$(pkeys host "$intruder" | cut -d' ' -f1)" 0:0x8001
    [ "$(violations)" -gt "$before" ] || fail "$transport: no P_Key violation is counted at the switch"
    [ "$transport" = ud ] || expect_match "the intruder" "$(cat "$WORK/client")" "*transport retry counter exceeded*"
  done
  wait_for 10 has_told_since switch 259 "$told"
  wait_for 10 trap_answered switch 259
}

say "the switch checks"
expect_eq "enforcement, in and out" "$(enforced)" 3
expect_eq "P_Keys of the switch port" "$(piece "$(smp "$sm" 0,1 0x16 $((port << 16)))" 0 2)" 8002
intrude
expect_stopped
echo "trap 259 (sent, repressed): $(told_by switch 259)"

say "a limited member that makes itself a full one"
partition blue "0x0001, indx0" 02:00:00:00:00:00:01:01=limited 02:00:00:00:00:00:02:01=limited
partition red "0x0002" 02:00:00:00:00:00:02:01=full
wait_for 10 first_pkey_is host "$victim" 0x0001
wait_for 10 first_pkey_is host "$intruder" 0x0001
intrude
expect_stopped

say "the switch does not check"
restart_opensm --part_enforce off
expect_eq "enforcement, in and out" "$(enforced)" 0
intrude
for transport in rc ud; do
  pingpong "$transport" "$victim" "$intruder" --iters 100 || fail "the intruder is stopped by something else: $(cat "$WORK/client")"
done
