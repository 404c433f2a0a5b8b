#!/bin/bash
# A node whose root writes its own P_Key table reaches nobody while the switch enforces, and ibpod-sm mends the table; it says where no switch does.
# deadline: 300
# quick: a node that writes its own P_Key table reaches no other partition, and the table is repaired
. "$ROOT/tests/vm/sm.sh"

victim=$(vf_pci 0 1) intruder=$(vf_pci 1 1)
guids=(02:00:00:00:00:00:01:01 02:00:00:00:00:00:02:01)
set_static_guid 0 1 "${guids[0]}"
set_static_guid 1 1 "${guids[1]}"
device=$(rdma_device host "$intruder")

intrude() {
  smp "$device" 0 0x16 0 "$(patch "$(smp "$device" 0 0x16 0)" 0 8001)" >/dev/null
  wait_for 5 first_pkey_is host "$intruder" 0x8001
}
violations() { echo $((0x$(piece "$(smp "$(rdma_device host "$PF0")" 0,1 0x15 "$(switch_port "$intruder")")" 46 2))); }
expect_stopped() { # TRANSPORT
  local before
  before=$(violations)
  if PATIENCE=5 pingpong "$1" "$victim" "$intruder" --iters 100; then fail "$1 reaches the victim"; fi
  [ "$(violations)" -gt "$before" ] || fail "$1: no P_Key violation is counted at the switch"
}
# Between two looks there is time enough to try.
rarely='.look.scanSeconds = 3600'

say "the switch enforces"
sm_conf "$rarely" "${guids[@]}"
start_sm
sm partition create blue --pkey 0x0001 --membership full --index0 --allow default
sm partition create red --pkey 0x0002 --membership full --index0 --allow default
expect_match "the victim" "$(ask_bind p1 "${guids[0]}" 30 blue)" "verified port leaf none: "
expect_match "the intruder" "$(ask_bind p2 "${guids[1]}" 30 red)" "verified port leaf none: "
finds_nothing "^fabric: switches" || fail "it says: $(doctor)"
pingpong rc "$victim" "$victim" --iters 100 || fail "pingpong itself: $(cat "$WORK/client")"
intrude
expect_stopped rc
expect_stopped ud
expect_eq "the intruder's first key, by now" "$(pkeys host "$intruder" | cut -d' ' -f1)" 0:0x8001

say "and the next look mends the table"
end_sm
run_sm
wait_for 30 first_pkey_is host "$intruder" 0x8002
wait_for 30 is_state p2 "verified port leaf none: "

say "the switch does not enforce, and the OpenSM is not ours"
end_sm
end_opensm
partition_line() { echo "$1=$2, ipoib, indx0 : 0x${3//:/}=full;"; }
cp "$partitions" "$WORK/partitions"
at_end cp "$WORK/partitions" "$partitions"
{
  partition_line blue 0x0001 "${guids[0]}"
  partition_line red 0x0002 "${guids[1]}"
} >>"$partitions"
run_opensm --part_enforce off
sm_conf "$rarely | .engine = \"observe\"" "${guids[@]}"
run_sm
wait_for 30 is_state p1 "verified port hca none: "
wait_for 30 is_state p2 "verified port hca none: "
(wait_for 20 finds "^fabric: switches: .* on a switch that does not enforce") || fail "it says: $(doctor)"
intrude
for transport in rc ud; do
  pingpong "$transport" "$victim" "$intruder" --iters 100 || fail "the intruder is stopped by something else: $(cat "$WORK/client")"
done
