#!/bin/bash
# OpenSM is dead for a while: running pods lose no packet, a new pod that needs proof gets error 11; then it gets in.
# deadline: 500
# machine: multi
. "$ROOT/tests/vm/outages.sh"

prepare_tenants
say "dead"
eval "$(outage opensm)"
wait_for 10 no_opensm
wait_for 20 eval '! serves'
belongs p3 red '.timeoutSeconds = 8'
call ADD p3
expect_error 11 "*partition red: not verified*"
del p3
expect_true "OpenSM dead"
no_opensm || fail "OpenSM runs"
wait_for 20 within p1 ping -q -c 5 -i 0.2 -W 2 10.7.0.2

say "and still: all that p1 hears now comes while it is dead"
stop_prober p1
expect_none_missing p1 p2
mv "$probes/probers/p1" "$probes/probers/p1.before"
start_prober p1 blue 10.7.0.1
wait_for 30 has_spoken p1
wait_for 30 has_spoken p2
wait_for 20 within p1 ping -q -c 20 -i 0.2 -W 2 10.7.0.2
stop_prober p1
expect_heard p1 p2 5
start_prober p1 blue 10.7.0.1
no_opensm || fail "OpenSM runs"

say "back"
end_outage opensm
expect_gone "OpenSM back"
belongs p3 red
add p3
start_prober p3 red 10.7.0.3
wait_for 30 has_spoken p3
wait_for 30 has_spoken p4 # whom it is to hear
wait_for 20 within p3 ping -q -c 20 -i 0.3 -W 2 10.7.0.4
stop_prober p3
expect_heard p3 p4 5
del p3
stop_all_probers
end_tenants
