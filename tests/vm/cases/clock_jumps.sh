#!/bin/bash
# The clock jumps by years, both ways: no lease ends, no key is lost, pods come and go, and the certificate's end is reported correctly.
# deadline: 400
# lane: attacks
. "$ROOT/tests/vm/agent.sh"
. "$ROOT/tests/vm/sm.sh"

declare -A vf=([p1]=$(vf_pci 0 1) [p2]=$(vf_pci 0 2))
set_static_guid 0 1 02:00:00:00:00:00:01:01
set_static_guid 0 2 02:00:00:00:00:00:01:02

sm_bound() { [[ $(state_of p1) == "verified "* ]]; }
# Sets the wall clock; the steady one goes on.
jump() { date -s "@$(($(date +%s) + $1 * 365 * 86400))" >/dev/null; } # YEARS
set_right() { # to what the steady clock says
  date -s "@$((started + $(cut -d. -f1 /proc/uptime) - up))" >/dev/null
}
started=$(date +%s) up=$(cut -d. -f1 /proc/uptime)
at_end set_right

make_certificates 127.0.0.1
sm_conf "$for_nodes | .leaseSeconds = 15 | .leaseEnd = \"revoke\"" 02:00:00:00:00:00:01:01 02:00:00:00:00:00:01:02
start_sm
sm partition create blue --pkey 0x0001 --membership full --index0 --allow default >/dev/null
start_marking_agent "$by_tls"
for pod in p1 p2; do new_pod "$pod"; done
blue_of() { conf "${vf[$1]}" '.partition = "blue" | .cniVersion = "1.0.0" | .rdmaIsolation = true'; } # POD
blue_of p1
add p1
end=$(sm_metric ibpod_sm_certificate_expires_seconds)
echo "certificate's end: $end"

for years in 20 -40 20; do
  say "$years years"
  jump "$years"
  date
  # Two leases, in which every renewal has to come.
  for _ in 1 2; do
    sleep 15
    sm_bound || fail "the binding is $(state_of p1)"
  done
  has_pkey p1 "${vf[p1]}" 0x8001 || fail "the key is gone: $(pkeys p1 "${vf[p1]}")"
  expect_eq "the certificate's end" "$(sm_metric ibpod_sm_certificate_expires_seconds)" "$end"
  # On connections that are there; a new one is for a certificate that is valid by the clock.
  blue_of p2
  add p2
  del p2
done

say "right again, with new connections"
set_right
end_agent TERM
start_agent
blue_of p2
add p2
del p2
blue_of p1
del p1
wait_for 20 is_unbound
