# Outages between a pod and its partition: of the SM service, OpenSM, UFM (path_ufm.sh), the node's agent (for good, or restarted
# at once), the network between agent and service. Meanwhile the pods of two tenants try to reach each other. For the cases path_*.
# shellcheck shell=bash disable=SC2016,SC2034
. "$ROOT/tests/vm/agent.sh"
. "$ROOT/tests/vm/sm.sh"
. "$ROOT/tests/vm/probers.sh"
. "$ROOT/tests/vm/stepping.sh"

# p1 and p2 are blue and stay, as does p4, which is red; p3 comes and goes.
declare -A vf=([p1]=$(vf_pci 0 1) [p2]=$(vf_pci 1 1) [p3]=$(vf_pci 0 2) [p4]=$(vf_pci 1 2))
declare -A tenant=([p1]=blue [p2]=blue [p4]=red) key_of=([blue]=0x8001 [red]=0x8002)
guids=(02:00:00:00:00:00:01:01 02:00:00:00:00:00:02:01 02:00:00:00:00:00:01:02 02:00:00:00:00:00:02:02)
service=10.9.9.1 # an address that can be taken away
staying="p1:net1 p2:net1 p4:net1"
runs_opensm=$WORK/runs-opensm
opensm_came=$WORK/opensm-came # from when to when OpenSM may have started again, a line each, in milliseconds
touch "$opensm_came"

prepare_tenants() {
  local pod
  set_static_guid 0 1 "${guids[0]}"
  set_static_guid 1 1 "${guids[1]}"
  set_static_guid 0 2 "${guids[2]}"
  set_static_guid 1 2 "${guids[3]}"
  ip address add "$service/32" dev lo
  at_end ip address delete "$service/32" dev lo
  begin_service .
  at_end end_agents
  start_marking_agent "$by_tls | .fabrics[].service = \"$service:7473\""
  for pod in p1 p2 p3 p4; do new_pod "$pod"; done
  for pod in p1 p2 p4; do
    belongs "$pod" "${tenant[$pod]}"
    add "$pod"
    start_prober "$pod" "${tenant[$pod]}" "10.7.0.${pod#p}"
  done
}

# Its OpenSM is run by a script, so that it can be kept from running.
begin_service() { # FILTER
  printf '#!/bin/sh\n[ -e %s ] || exit 1\nexec opensm "$@"\n' "$runs_opensm" >"$WORK/opensm"
  chmod +x "$WORK/opensm"
  touch "$runs_opensm"
  make_certificates "$service"
  sm_conf "$for_nodes | .listen.address = \"$service:7473\" | .opensm.program = \"\(\$work)/opensm\" | $1" "${guids[@]}"
  start_sm
  create_partitions
}
create_partitions() {
  sm partition create blue --pkey 0x0001 --membership full --index0 --ipoib yes --allow default
  sm partition create red --pkey 0x0002 --membership full --index0 --ipoib yes --allow default
}

# There is one address for each, so one that is not given back shows.
belongs() { # POD PARTITION [FILTER]: what the next call for it is about
  conf_of "$1" "${vf[$1]}" ".partition = \"$2\" | .cniVersion = \"1.0.0\" | .rdmaIsolation = true |
    .ipam = {type: \"host-local\", dataDir: \"\(\$work)/leases\",
      ranges: [[{subnet: \"10.7.0.0/24\", gateway: \"10.7.0.254\", rangeStart: \"10.7.0.${1#p}\", rangeEnd: \"10.7.0.${1#p}\"}]]} | ${3:-.}"
  cp "$WORK/$1/conf" "$WORK/conf"
}

opensm_pid() { pgrep -x opensm; }
# Also one that was started inside a call which then failed the case.
end_agents() {
  pkill -9 -x ibpod-agent || true
  wait_for 10 no_agent
}
no_agent() { ! pgrep -x ibpod-agent; }
# One alone, and not the one that has been killed.
another_agent_runs() {
  local now
  now=$(pgrep -x ibpod-agent) && [[ $now =~ ^[0-9]+$ && $now != "$agent_pid" ]]
}

# The port is in that partition and in no other, but the default one.
expect_in() { # POD PARTITION
  local now
  now=$(pkeys "$1" "${vf[$1]}" | sed 's/ *[0-9]*:0x7fff//')
  expect_eq "P_Keys of $1, which is $2" "$now" "0:${key_of[$2]}"
}

# --- outages, each as a shell command, as one of them happens inside a call ----------------------------------------------

outages=(service opensm agent restart network)
outage() { # NAME
  case $1 in
    service) echo "kill -9 $sm_pid" ;;
    opensm) echo "rm -f $runs_opensm; pkill -9 -x opensm" ;;
    agent) echo "kill -9 $agent_pid" ;;
    restart) echo "kill -9 $agent_pid; ibpod-agent --config $WORK/agent.json --node vm >>$WORK/agent.out 2>>$WORK/agent.log &" ;;
    network) echo "ip address delete $service/32 dev lo" ;;
    ufm) echo "curl -sf -o /dev/null --max-time 10 --unix-socket $WORK/ufm.sock -X PUT -d '{\"on\": false}' http://ufm/stand-in/serving" ;;
  esac
}

# All is there again, and serves.
end_outage() { # NAME
  local begin
  begin=$(milliseconds)
  case $1 in
    service)
      wait "$sm_pid" 2>/dev/null || true
      run_sm
      ;;
    opensm) # until the service has noticed that it is away, it says that it serves
      wait_for 20 eval '! serves'
      begin=$(milliseconds)
      touch "$runs_opensm"
      ;;
    agent)
      wait "$agent_pid" 2>/dev/null || true
      start_agent
      ;;
    restart) # the one that was started meanwhile is ours from now on
      wait "$agent_pid" 2>/dev/null || true
      (wait_for 20 another_agent_runs) || fail "the agent that was started meanwhile has ended: $(tail -n 5 "$WORK/agent.log")"
      agent_pid=$(pgrep -ox ibpod-agent) # a program that it is about to run has its name for a moment
      wait_for 60 ctl devices
      ;;
    network) ip address add "$service/32" dev lo ;;
    ufm) ufm_serves true ;; # of path_ufm.sh
  esac
  wait_for 60 serves
  case $1 in service | opensm) echo "$begin $(milliseconds)" >>"$opensm_came" ;; esac
}

# --- a call with an outage at one of its steps ---------------------------------------------------------------------------

steps_made() { sed -n 's/^stepper: \([0-9]*\) calls$/\1/p' <<<"$err"; }

# How many steps the verb has when nothing fails; sets $steps.
count_steps() { # VERB
  step_through count
  must "$1" p3
  step_freely
  steps=$(steps_made)
}

# The steps that are tried: one, or all if the case runs whole. Of steps that take longer than a lane has, every other
# one.
RANDOM=$SEED
first_step=1 stride=1
choose_steps() { # sets $chosen
  chosen=("$((RANDOM % steps + 1))")
  if [ "$FULL" = 1 ]; then mapfile -t chosen < <(seq "$first_step" "$stride" "$steps"); fi
}

states() { sm --json binding list | jq -r '[.[] | "\(.containerID) \(.state)"] | sort | join(", ")'; }
lease_of() { echo "$WORK/leases/ibnet/10.7.0.${1#p}"; } # POD
is_clean() { lacks_pkey host "$1" 0x8001 && lacks_pkey host "$1" 0x8002; } # PCI

# Nothing of it is left, on the node and at the service, and its VF has a MAD agent, even if somebody was killed while he moved it;
# the others are as they should be.
is_gone() { # POD
  [ "$(records)" = "$staying" ] && [ "$(states)" = "p1 verified, p2 verified, p4 verified" ] && is_clean "${vf[$1]}" &&
    [ ! -e "$(lease_of "$1")" ] && has_mad_agent "${vf[$1]}"
}

expect_gone() { # WHAT
  (wait_for 60 is_gone p3) || fail "$1: left behind: $(records); $(sm --json binding list); $(pkeys host "${vf[p3]}"); $(ls "$WORK/leases/ibnet")"
}

# Those that stay are in their partitions, and nobody has heard of another tenant.
expect_true() { # WHAT
  local pod
  for pod in p1 p2 p4; do
    kill -0 "${prober_pid[$pod]}" || { tail "$WORK/probers/$pod"; fail "$1: the prober of $pod has ended"; }
    expect_in "$pod" "${tenant[$pod]}"
  done
  ! any_wrong || fail "$1: messages between tenants"
}

stop_all_probers() {
  local pod
  for pod in p1 p2 p4; do stop_prober "$pod"; done
  expect_none_wrong
  expect_heard p1 p2 50
  expect_heard p2 p1 50
  expect_none_missing p1 p2
  expect_none_missing p2 p1
}

# IPoIB may drop packets while a subnet manager that has just come does not answer yet (docs/kernel-notes.md, "Paths when a subnet
# manager comes"): only such ones may be missing. The last one before them may have come a second before, and the first one after them
# ten seconds after it serves.
may_be_missing() { # WAY SINCE UNTIL
  [ "$1" = ip ] &&
    awk -v since="$2" -v until="$3" '$1 - 1000 <= since && until <= $2 + 10000 {found = 1} END {exit !found}' "$opensm_came"
}

end_tenants() {
  local pod
  for pod in p1 p2 p4; do
    belongs "$pod" "${tenant[$pod]}"
    del "$pod"
  done
  expect_eq "records" "$(records)" ""
}
