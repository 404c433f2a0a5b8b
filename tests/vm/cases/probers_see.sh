#!/bin/bash
# The judge of other cases is judged: one of two pods of a partition is said to be of another; each tells of the other, by every way.
# deadline: 240
. "$ROOT/tests/vm/outages.sh"

prepare_tenants
stop_prober p2
start_prober p2 red 10.7.0.2

tells() { grep -q "^WRONG: from $2 of .* by $3" "$probes/probers/$1"; } # POD FROM WAY
for way in ip ud rc; do
  wait_for 30 tells p1 p2 "$way"
  wait_for 30 tells p2 p1 "$way"
done
for pod in p1 p2; do
  status=0
  kill "${prober_pid[$pod]}"
  wait "${prober_pid[$pod]}" || status=$?
  unset "prober_pid[$pod]"
  expect_eq "how the prober of $pod ends" "$status" 1
  if grep "^WRONG: from p4 " "$probes/probers/$pod"; then fail "p4 is blamed"; fi
done

say "p4 has received no packet"
stop_prober p4
end_tenants

say "a missing one is reported"
printf 'missing: 1 from p2 by ud since 1 until 2\nall: 1 right, 0 wrong, 1 missing, 0 broken\n' >"$probes/probers/p9"
if (expect_none_missing p9 p2); then fail "a missing prober is not reported"; fi
