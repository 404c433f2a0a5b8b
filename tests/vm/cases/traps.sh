#!/bin/bash
# A trap is repeated until the subnet manager represses it; a packet with a wrong P_Key is counted and reported.
. "$ROOT/tests/vm/lib.sh"

victim=$(vf_pci 0 1) stranger=$(vf_pci 1 1)
set_static_guid 0 1 02:00:00:00:00:00:01:01
set_static_guid 1 1 02:00:00:00:00:00:02:01

say "trap 128, without an answer"
wait_for 10 trap_answered switch 128
resume_opensm() { kill -CONT "$(pidof opensm)"; }
at_end resume_opensm
kill -STOP "$(pidof opensm)"
read -r before _ < <(told_by switch 128)
fault "$stranger" down 1
repeated() { [ "$(told_by switch 128 | cut -d' ' -f1)" -ge $((before + 4)) ]; }
begin=$(milliseconds)
wait_for 10 repeated
took=$(($(milliseconds) - begin))
[ "$took" -ge 2500 ] || fail "repeated more often than once a second: four in $took ms"
expect_match "trap 128" "$(told_by switch 128)" "* unanswered"
resume_opensm
wait_for 10 trap_answered switch 128
read -r before _ < <(told_by switch 128)
sleep 2.5 # twice as long as it takes to be repeated
read -r now _ < <(told_by switch 128)
expect_eq "trap 128 after it was repressed" "$now" "$before"
no_fault "$stranger" down
wait_for 10 is_active host "$stranger"

say "trap 257, of an adapter behind a switch that does not check"
restart_opensm --part_enforce off
partition blue "0x0001, indx0" 02:00:00:00:00:00:01:01=full
partition red "0x0002, indx0" 02:00:00:00:00:00:02:01=full
wait_for 10 first_pkey_is host "$victim" 0x8001
wait_for 10 first_pkey_is host "$stranger" 0x8002
violations() { echo $((0x$(piece "$(smp "$(rdma_device host "$victim")" 0 0x15 1)" 46 2))); }
before=$(violations) told=$(sent_by "$victim" 257) heard=$(logged num:257)
if pingpong rc "$victim" "$stranger" --iters 10; then fail "they are in one partition"; fi
[ "$(violations)" -gt "$before" ] || fail "no P_Key violation is counted"
wait_for 10 has_told_since "$victim" 257 "$told"
wait_for 10 trap_answered "$victim" 257
wait_for 10 is_logged_since num:257 "$heard"
