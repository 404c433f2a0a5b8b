#!/bin/bash
# A DEL that may not fork, or dies for memory, and an agent that does: the record stays, and the next DEL ends all.
# deadline: 400
# lane: attacks
. "$ROOT/tests/vm/agent.sh"

vf=$(vf_pci 0 1) other=$(vf_pci 0 2)
groups=/sys/fs/cgroup
mkdir -p "$groups"
mount -t cgroup2 cgroup2 "$groups"
at_end umount "$groups"
echo "+memory +pids" >"$groups/cgroup.subtree_control"
mkdir "$groups/del"
at_end rmdir "$groups/del"

# The plugin alone, with what `call` gives it, in the cgroup; its exit code is $status.
del_within() { # POD
  status=0
  { CNI_COMMAND=DEL CNI_CONTAINERID=$1 CNI_NETNS=/run/netns/$1 CNI_IFNAME=net1 CNI_PATH=$CNI_PATH \
    bash -c 'echo $$ >/sys/fs/cgroup/del/cgroup.procs && exec "$0"' "$(find_plugin)" \
    <"$WORK/conf" >"$WORK/out" 2>"$WORK/err"; } 2>/dev/null || status=$? # bash tells of each that is killed
}
events() { sed -n "s/^$2 //p" "$groups/del/$1.events"; } # pids|memory NAME
record_of() { find /var/lib/ibpod/attachments -name "$1:*.json" -printf '%f\n'; }

new_pod p1
conf "$vf" ".guid = \"02:00:00:00:00:00:aa:01\" | .link_state = \"auto\" | .rdmaIsolation = true | $lease"
remember_node

say "no process may be made: IPAM cannot be asked"
add p1
echo 1 >"$groups/del/pids.max"
del_within p1
[ "$status" != 0 ] || fail "DEL succeeded without IPAM"
expect_match "DEL" "$(<"$WORK/out")" "*Resource temporarily unavailable*"
[ "$(events pids max)" -gt 0 ] || fail "the limit was not reached"
expect_eq "the record" "$(record_of p1)" p1:net1.json
expect_eq "the lease" "$(cd "$WORK/leases" && ls -- *:*)" p1:net1
echo max >"$groups/del/pids.max"
del_within p1
expect_eq "the next DEL" "$status" 0
expect_unchanged "DEL without processes, and the next one"

say "memory: a little more at each DEL, until one is not killed"
for isolation in true false; do
  conf "$vf" ".guid = \"02:00:00:00:00:00:aa:01\" | .rdmaIsolation = $isolation | $lease"
  add p1
  killed=0 kib=128 oom_kills=$(events memory oom_kill)
  while true; do
    echo "${kib}K" >"$groups/del/memory.max"
    del_within p1
    [ "$status" != 0 ] || break
    killed=$((killed + 1)) kib=$((kib + 128))
    [ "$kib" -lt 65536 ] || fail "no DEL succeeds with $kib KiB: $(<"$WORK/out") $(<"$WORK/err")"
  done
  say "isolation $isolation: $killed ended for memory, one with $kib KiB succeeded"
  [ "$(events memory oom_kill)" -gt "$oom_kills" ] || fail "none was killed for memory"
  echo max >"$groups/del/memory.max"
  expect_unchanged "isolation $isolation, and DELs that were killed"
done

say "the agent, killed for memory: the plugins say so, and the next one goes on"
start_marking_agent ".standalone = \"refuse\""
mkdir "$groups/agent"
at_end rmdir "$groups/agent"
add p1
agent=$(pidof ibpod-agent)
echo "$agent" >"$groups/agent/cgroup.procs"
echo 64K >"$groups/agent/memory.max"
dead() { ! kill -0 "$agent" 2>/dev/null || grep -q "State:.*Z" "/proc/$agent/status"; }
ask() { curl -sf --max-time 1 http://127.0.0.1:9464/metrics >/dev/null || true; dead; }
wait_for 30 ask
[ "$(sed -n 's/^oom_kill //p' "$groups/agent/memory.events")" -gt 0 ] || fail "the agent has ended by something else"
new_pod p2
conf "$other" ".guid = \"02:00:00:00:00:00:aa:02\" | .rdmaIsolation = true | .timeoutSeconds = 3"
call ADD p2
expect_error 11 "*agent*does not answer*"
del p2
end_agent KILL
start_agent
expect_eq "the record" "$(record_of p1)" p1:net1.json
conf "$vf" ".guid = \"02:00:00:00:00:00:aa:01\" | .rdmaIsolation = false | $lease"
del p1
expect_eq "the record" "$(record_of p1)" ""
