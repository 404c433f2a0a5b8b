#!/bin/bash
# Pods come and go, 4 at a time on 8 VFs of two tenants (8 on 16 in the lane), while every 10 s something between them and their partitions goes away.
# deadline: 700 4700
# complaint: infiniband softhca_[0-9]+: Couldn't open port 1
# machine: multi
# full: sm-churn
. "$ROOT/tests/vm/outages.sh"
. "$ROOT/tests/vm/stage.sh"

total=16 workers=4 # two rounds of workers on each PF, with some five outages
if [ "$FULL" = 1 ]; then total=500 workers=8; fi
echo "seed $SEED"
RANDOM=$SEED

# The VFs are made by the agent, and have their GUIDs from the service's pool.
at_end rm -rf /var/lib/ibpod/preparation /var/lib/ibpod/agent
at_end stage_as_before 8
clear_stage
guids=()
ip address add "$service/32" dev lo
at_end ip address delete "$service/32" dev lo
begin_service '.guids = [{first: "0x0200000000001001", last: "0x02000000000010ff"}]'
agent_conf "$by_tls | .fabrics[].service = \"$service:7473\" | .pfs = [{rootDevices: [\"$PF0\", \"$PF1\"], numVfs: 8}]"
start_agent
healthy() { [ "$(metric 'ibpod_pool_devices{pool="example.com\/vfs",state="healthy"}')" = "$1" ]; }
wait_for 120 healthy 16
mapfile -t guids < <(ctl --json devices | jq -r '.[] | select(.pf != "") | .portGuid')
expect_eq "GUIDs of the pool" "$(printf '%s\n' "${guids[@]}" | grep -c '^02:00:00:00:00:00:10:')" 16

# --- pods -----------------------------------------------------------------------------------------------------------------

partition_of() { if [ $(($1 % 2 ^ $1 / workers / 2 % 2)) = 0 ]; then echo blue; else echo red; fi; } # NUMBER
# A line for each try of an ADD: pod, number of the try, begin, end, exit code.
told() { echo "$*" >>"$probes/tries"; }

run_pod() { # NUMBER VF
  local pod=c$1 device=$2 partition try begin joined=""
  partition=$(partition_of "$1")
  mkdir "$WORK/$pod"
  WORK=$WORK/$pod
  make_netns "$pod"
  conf "$device" ".partition = \"$partition\" | .cniVersion = \"1.0.0\" | .rdmaIsolation = true |
    .ipam = {type: \"static\", addresses: [{address: \"10.7.$(($1 / 250)).$(($1 % 250 + 1))/16\"}]}"
  for ((try = 1; try <= 4; try++)); do
    begin=$(milliseconds)
    call ADD "$pod"
    told "$pod" "$try" "$begin" "$(milliseconds)" "$rc"
    if [ "$rc" = 0 ]; then
      joined=1
      break
    fi
    del "$pod"
    # A kubelet comes again seconds later. While the agent is away a refusal is a matter of milliseconds.
    wait_for 60 agent_answers
  done
  if [ -n "$joined" ]; then
    start_prober "$pod" "$partition" "10.7.$(($1 / 250)).$(($1 % 250 + 1))"
    wait_for 30 has_spoken_to_one "$pod"
    stop_prober "$pod"
  fi
  del "$pod"
  ip netns delete "$pod"
}
agent_answers() { ibpodctl --socket "$probes/agent.sock" devices; }
# … to one of those that are there, if there is any.
has_spoken_to_one() { grep -q '^rc .* 1$' "$probes/cards/$1" || has_spoken "$1"; }

work() { # WORKER
  local number
  for ((number = $1; number < total; number += workers)); do
    (run_pod "$number" "$(vf_pci $((number / workers % 2)) "$1")") >"$probes/log.$number" 2>&1 || told_failed "$number"
  done
}
told_failed() { echo "$1" >>"$probes/failed"; }

# --- and outages ------------------------------------------------------------------------------------------------------------

touch "$WORK/tries" "$WORK/failed" "$WORK/windows"
begin=$(milliseconds) faults=0
exec 7< <(for ((worker = 0; worker < workers; worker++)); do work "$worker" & done; wait)
have_ended() { # SECONDS: waits so long for the workers, who hold that pipe
  local status=0
  read -rt "$1" -u 7 _ || status=$?
  [ "$status" -le 128 ]
}
until have_ended 10; do
  [ -s "$WORK/tries" ] || continue # on a slow machine an outage would touch every ADD: the first one is left alone
  cause=${outages[RANDOM % ${#outages[@]}]}
  from=$(milliseconds)
  eval "$(outage "$cause")"
  have_ended 2 || true
  end_outage "$cause"
  echo "$from $(milliseconds) $cause" | tee -a "$WORK/windows"
  faults=$((faults + 1))
done
took=$(($(milliseconds) - begin))

# --- what has become of them --------------------------------------------------------------------------------------------------

while read -r number; do
  echo "--- c$number"
  cat "$WORK/log.$number" "$WORK/c$number/err"
done <"$WORK/failed"
if [ -s "$WORK/failed" ]; then
  tail -n 30 "$WORK/agent.log"
  fail "pods $(xargs <"$WORK/failed")"
fi
expect_none_wrong
# An ADD that no outage has touched succeeds at the first try; every one within three more.
awk 'FILENAME ~ /windows$/ {from[++windows] = $1; to[windows] = $2; next}
  {pods[$1] = 1; tries++
   touched = 0
   for (i = 1; i <= windows; i++) if ($3 <= to[i] && $4 >= from[i]) touched = 1
   if (!touched) untouched++
   if ($5 == 0) {
     joined[$1] = 1
     if ($2 == 1) first++
   } else {
     failed++
     if (!touched) {print "failed, and no outage: " $0; bad++}
   }}
  END {
    for (pod in pods) if (!(pod in joined)) {print "never joined: " pod; bad++}
    if (!untouched) {print "there was an outage during each try"; bad++}
    printf "%d pods, %d joined at the first try, %d of %d tries failed, %d had no outage beside them\n", length(pods), first, failed, tries, untouched
    exit bad > 0
  }' "$WORK/windows" "$WORK/tries" | tee "$WORK/sum" || fail "$(cat "$WORK/sum")"
expect_eq "pods" "$(cut -d' ' -f1 "$WORK/tries" | sort -u | wc -l)" "$total"
[ "$faults" -gt 0 ] || fail "nothing went away"
is_over() { [ -z "$(records)" ] && [ "$(sm --json binding list | jq length)" = 0 ]; }
wait_for 60 is_over
wait_for 30 healthy 16
for pf in 0 1; do
  for n in {0..7}; do
    device=$(vf_pci "$pf" "$n")
    for key in 0x8001 0x8002; do lacks_pkey host "$device" "$key" || fail "$key is left on $device"; done
    has_mad_agent "$device" || fail "$device has no MAD agent"
  done
done
right() { cat "$WORK"/probers/* | sed -n "s/^from .* by $1: \([0-9]*\) right.*/\1/p" | awk '{n += $1} END {print n + 0}'; }
for way in ip ud rc; do [ "$(right "$way")" -gt 0 ] || fail "no pod has heard another by $way"; done
end_agent TERM
echo "note: $(cat "$WORK/sum"), $faults outages, $((took / 1000)) s, $(right .\*) probes right, none wrong"
