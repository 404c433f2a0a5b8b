#!/bin/bash
# A flood of uevents, also of a pod that renames its RDMA device without end: the agent answers, takes bounded memory and not a whole processor, and sees afterwards what is there.
# deadline: 300
# lane: attacks
# machine: multi
. "$ROOT/tests/vm/agent.sh"

vf=$(vf_pci 0 1) other=$(vf_pci 0 2)
at_end tail -n 12 "$WORK/agent.log"
for pod in p1 p2; do new_pod "$pod"; done
agent_conf .
start_agent
conf "$vf" '.guid = "02:00:00:00:00:00:aa:01" | .rdmaIsolation = true'
add p1
wait_for 20 tells "$vf" attachment "pod default/p1 (net1)"
rss() { awk '/^VmRSS:/ {print $2}' "/proc/$agent_pid/status"; }
ticks() { awk '{print $14 + $15}' "/proc/$agent_pid/stat"; }
event() { cat /sys/kernel/uevent_seqnum; }
before=$(rss)

floods=()
by_root() { while true; do echo change >"/sys/bus/pci/devices/$PF0/uevent"; done; }
by_pod() {
  local name
  name=$(rdma dev show | sed -E 's/^[0-9]+: ([^:]+):.*/\1/')
  while rdma dev set "$name" name flood && rdma dev set flood name "$name"; do :; done
}
begin_flood() { "$@" & floods+=("$!"); } # COMMAND...
stop_floods() {
  [ ${#floods[@]} = 0 ] || kill "${floods[@]}" 2>/dev/null || true
  floods=()
}
at_end stop_floods

# Measures the agent for SECONDS; prints the time that it used.
watch_agent() { # WHO SECONDS
  local used events_s most=0 answers=0 began now events slowest=0 took
  used=$(ticks) began=$(milliseconds) events=$(event)
  while [ $(($(milliseconds) - began)) -lt $(($2 * 1000)) ]; do
    ctl devices >/dev/null || fail "the agent does not answer"
    took=$(curl -sf --max-time 5 -o /dev/null -w '%{time_total}' http://127.0.0.1:9464/healthz) || fail "/healthz does not answer"
    took=$((10#${took/./} / 1000)) answers=$((answers + 1)) now=$(rss)
    [ "$took" -le "$slowest" ] || slowest=$took
    [ "$now" -le "$most" ] || most=$now
  done
  began=$(($(milliseconds) - began))
  percent=$((($(ticks) - used) * 100000 / ($(getconf CLK_TCK) * began)))
  events_s=$((($(event) - events) * 1000 / began))
  [ "$1" = nobody ] || [ "$events_s" -gt 1 ] || fail "$1: no flood, $events_s events/s"
  summary="$1: $events_s events/s, $percent % of a processor, $answers answers, /healthz in $slowest ms, RSS $before to $most KiB"
  say "$summary"
  [ $((most - before)) -lt 65536 ] || fail "the agent has grown from $before to $most KiB"
}

watch_agent nobody 10
begin_flood by_root
watch_agent root 15
stop_floods
begin_flood ip netns exec p1 bash -c "$(declare -f by_pod); by_pod"
watch_agent "a pod" 15
stop_floods

say "what was changed meanwhile is seen"
conf "$other" '.guid = "02:00:00:00:00:00:aa:02"'
add p2
wait_for 30 tells "$other" attachment "pod default/p2 (net1)"
del p2
conf "$vf" '.guid = "02:00:00:00:00:00:aa:01" | .rdmaIsolation = true'
del p1
echo "note: $summary"
