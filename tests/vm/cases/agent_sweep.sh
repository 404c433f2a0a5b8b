#!/bin/bash
# The agent ends what dead pods left: of a namespace that was killed, of an ADD that was killed, of a record that is damaged.
# It never touches the attachments of living pods.
# deadline: 240
# quick: the agent ends what dead pods left
. "$ROOT/tests/vm/agent.sh"

for n in 0 1 2; do set_static_guid 0 "$n" "02:00:00:00:00:00:0a:0$n"; done
new_pod alive
new_pod dead
new_pod cut
agent_conf .
start_agent

conf "$(vf_pci 0 0)" ".rdmaIsolation = true | $lease"
add alive
conf "$(vf_pci 0 1)" ".rdmaIsolation = true | .guid = \"02:00:00:00:00:00:bb:01\" | $lease"
add dead
wait_for 10 tells "$(vf_pci 0 1)" attachment "pod default/dead (net1)"
expect_eq "attachments" "$(ctl --json attachments | jq -r '[.[].pod.name] | sort | join(" ")')" "alive dead"
# ADD does not insist on carrier, and what the link shows of it follows a moment later.
wait_for 20 within alive grep -qx up /sys/class/net/net1/operstate
before=$(ip -n alive -d link show net1)

say "a namespace dies without DEL"
ip netns delete dead
wait_for 60 has_records alive:net1
expect_eq "its GUID is the VF's own again" "$(port_guid host "$(vf_pci 0 1)")" 0200:0000:0000:0a01
wait_for 20 has_leases alive:net1
wait_for 60 tells "$(vf_pci 0 1)" healthy true

say "an ADD dies half way, and its namespace with it"
conf "$(vf_pci 0 2)" ".rdmaIsolation = true | .guid = \"02:00:00:00:00:00:bb:02\" | $lease"
kill_in_add() {
  (ulimit -c 0; cni ADD cut net1 <"$WORK/conf") &
  local call=$!
  wait_for 20 has_records "alive:net1 cut:net1"
  pkill -KILL -x ib-sriov || true
  wait "$call" || true
}
kill_in_add
ip netns delete cut
wait_for 60 has_records alive:net1
expect_eq "its GUID is the VF's own again" "$(port_guid host "$(vf_pci 0 2)")" 0200:0000:0000:0a02

say "a damaged record keeps its VF out of service, and goes where the VF is at home"
mkdir -p "/var/lib/ibpod/attachments/$(vf_pci 0 2)"
echo '{"version":1,"checksum":"0","attachment":{}}' >"/var/lib/ibpod/attachments/$(vf_pci 0 2)/lost:net1.json"
wait_for 60 has_records alive:net1

expect_eq "alive's interface" "$(ip -n alive -d link show net1)" "$before"

say "its thread sleeps while nothing happens"
switches() { awk '/^voluntary/ {print $2}' "/proc/$agent_pid/status"; }
sleeps() { # awake for a handful of events in two seconds, not for hundreds
  local before
  before=$(switches)
  sleep 2
  [ $(($(switches) - before)) -lt 100 ]
}
wait_for 60 sleeps

conf "$(vf_pci 0 0)" ".rdmaIsolation = true | $lease"
end_agent TERM
del alive
# A VF without a record that tells which GUIDs were its own is left with none.
expect_eq "the GUID of the VF whose record was damaged" "$(port_guid host "$(vf_pci 0 2)")" ffff:ffff:ffff:ffff
