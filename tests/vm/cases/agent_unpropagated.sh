#!/bin/bash
# An agent in a mount namespace of its own, which mounts made later do not reach, sees no pod's network namespace: with four
# live pods it touches none, and ends the one whose namespace has lost its name. Told where the node's mounts are, it sees all,
# and what is in them: their RDMA devices and port counters.
# machine: multi
# deadline: 400
. "$ROOT/tests/vm/agent.sh"

for i in {0..3}; do new_pod "p$i"; done
agent_conf .
# shellcheck disable=SC2034 # for agent.sh
agent_runs=(unshare --mount --propagation private ibpod-agent)
start_agent

for i in {0..3}; do
  delete_pod "p$i"
  make_netns "p$i"
  conf_of "p$i" "$(vf_pci 0 "$i")" ".guid = \"02:00:00:00:00:00:aa:0$i\" | .link_state = \"auto\" | .rdmaIsolation = true | .timeoutSeconds = 100 | $lease"
done
at_once ADD p{0..3}

# A pod has all of its own: its interface with its address, its RDMA device, its GUID.
have() { # POD...
  local pod
  for pod; do
    ip -n "$pod" -d address show net1
    within "$pod" rdma link show
    port_guid "$pod" "$(vf_pci 0 "${pod#p}")"
  done
}
# With carrier, of which the kernel makes a link-local address, and through with its duplicate address detection.
is_settled() { [ -n "$(ip -n "$1" -6 -o address show dev net1 scope link -tentative)" ]; } # POD
for i in {0..3}; do wait_for 20 is_settled "p$i"; done
pods=$(have p{0..3})
all=$(records)

metric_is() { [ "$(metric "$1")" = "$2" ]; }              # NAME{LABELS} VALUE
has_swept_again() { [ "$(metric ibpod_sweeps_total)" -ge "$1" ]; }
await_sweeps() { wait_for 60 has_swept_again "$(($(metric ibpod_sweeps_total) + $1))"; } # NUMBER

say "it sees none of them, and for two sweeps touches none"
await_sweeps 2
expect_eq "records" "$(records)" "$all"
expect_eq "the four pods" "$(have p{0..3})" "$pods"
expect_eq "what it knows of them" "$(metric 'ibpod_attachments{verdict="unknown"}')" 4

all_but() { xargs -n 1 <<<"$all" | grep -v "^$1:" | xargs; } # POD

# The device in a pod, as the agent can look into that pod or not.
counts() { curl -sf --max-time 20 http://127.0.0.1:9464/metrics | grep -c "^ibpod_port_counter_total{.*pod=\"$1\"" || true; } # POD
expect_eq "counters of a pod" "$(counts p3)" 0
expect_eq "devices whose counters it cannot read" "$(metric ibpod_port_counters_unread_devices)" 4
expect_eq "RDMA devices of p3" "$(told "$(vf_pci 0 3)" 'rdma | length')" 0

say "one of them dies, and its name goes, which it does see"
others=$(have p{1..3})
ip netns delete p0
wait_for 60 has_records "$(all_but p0)"
await_sweeps 1
expect_eq "the three others" "$(have p{1..3})" "$others"
end_agent TERM

say "with the node's own mount namespace it sees all of them"
agent_conf '.hostMountNamespace = "/proc/1/ns/mnt"'
start_agent
wait_for 60 metric_is 'ibpod_attachments{verdict="live"}' 3
expect_eq "devices whose counters it cannot read" "$(metric ibpod_port_counters_unread_devices)" 0
for i in {1..3}; do
  [ "$(counts "p$i")" -gt 0 ] || fail "no counters of p$i"
  expect_eq "RDMA devices of p$i" "$(told "$(vf_pci 0 "$i")" 'rdma | length')" 1
done
all=$(records)
others=$(have p{2..3})
ip netns delete p1
wait_for 60 has_records "$(all_but p1)"
await_sweeps 1
wait_for 20 has_leases "$(records)"
expect_eq "the two others" "$(have p{2..3})" "$others"
end_agent TERM

for i in {2..3}; do conf "$(vf_pci 0 "$i")" ".rdmaIsolation = true | $lease"; del "p$i"; done
make_netns p0
make_netns p1
