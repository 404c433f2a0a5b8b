#!/bin/bash
# Two limited members of a partition cannot talk, a limited one and a full one can, by every program.
# deadline: 240
. "$ROOT/tests/vm/programs.sh"

number_vfs p1=0.1 p2=1.1
members() { partition blue "0x0001, indx0" "${guid[p1]}=$1" "${guid[p2]}=$2"; } # OF-P1 OF-P2
members limited limited
connect_pods p1 p2
attach_pod p1 0x0001
expect_log "limited"
attach_pod p2 0x0001

say "limited and limited"
expect_silence p2 "${programs[@]}"

say "full and limited"
members full limited
expect_talk p2 "${programs[@]}"

say "limited and full"
members limited full
expect_talk p2 "${programs[@]}"

detach_pods p1 p2
