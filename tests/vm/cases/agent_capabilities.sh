#!/bin/bash
# The agent does all its work with the capabilities of the DaemonSet, in a mount namespace of its own; without any of them it cannot.
# deadline: 500
# full: agent
# complaint: infiniband softhca_[0-9]+: Couldn't open port 1
. "$ROOT/tests/vm/agent.sh"

manifest=$ROOT/manifests/base/daemonset.yaml
# The capabilities that the container "agent" adds to none.
mapfile -t granted < <(awk '/- name: agent$/ {on = 1} on && /livenessProbe:/ {exit} on && /^ *- [A-Z_]+$/ {print $2}' "$manifest")
[ ${#granted[@]} -gt 0 ] || fail "no capabilities in $manifest"
say "capabilities: ${granted[*]}"

limit=$(awk '/resources: &small/ {on = 1} on && /limits:/ {gsub(/[^0-9]/, ""); print; exit}' "$manifest")
say "memory limit: $limit MiB"
group=/sys/fs/cgroup/agent
mkdir -p /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
at_end umount /sys/fs/cgroup
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir "$group"
at_end rmdir "$group"
echo "${limit}M" >"$group/memory.max"

# As in its container: nothing of the node's network namespaces is to be seen there, and no other program has capabilities.
run_with() { # CAPABILITY...
  local bounding=-all each
  for each; do bounding+=,+${each,,}; done
  # shellcheck disable=SC2016,SC2034 # for agent.sh
  agent_runs=(unshare --mount --propagation slave bash -c
    'echo $$ >/sys/fs/cgroup/agent/cgroup.procs && mkdir -p /run/netns && mount -t tmpfs none /run/netns && exec setpriv --bounding-set "$0" --no-new-privs "$@"' "$bounding" ibpod-agent)
}

own_vfs 2
at_end end_agent TERM
at_end tail -n 12 "$WORK/agent.log"
set_static_guid 0 0 02:00:00:00:00:00:00:11
set_static_guid 0 1 02:00:00:00:00:00:00:12
rdma_mode shared
at_end delete_pod live
at_end delete_pod dead

is_exclusive() { [[ $(rdma system show) == *exclusive* ]]; }
is_prepared() { [ "$(cat "/sys/bus/pci/devices/$PF1/sriov_numvfs")" = 2 ] && is_active host "$(vf_pci 1 0)" && is_active host "$(vf_pci 1 1)"; }
counts_port_of() { [ -n "$(metric 'ibpod_port_counter_total{[^}]*pod="'"$1"'"[^}]*}' | head -1)" ]; } # POD
attach() { # POD VF
  make_netns "$1"
  conf "$(vf_pci 0 "$2")" ".rdmaIsolation = true | $lease"
  add "$1"
}
detach() { # POD VF
  conf "$(vf_pci 0 "$2")" ".rdmaIsolation = true | $lease"
  del "$1"
  delete_pod "$1"
}

# One that ends at once is no agent.
answers_or_ends() { agent_is_gone || ctl devices; }
# shellcheck disable=SC2034 # for agent.sh
begin_agent() {
  "${agent_runs[@]}" --config "$WORK/agent.json" --node vm >>"$WORK/agent.out" 2>>"$WORK/agent.log" &
  agent_pid=$!
  wait_for 60 answers_or_ends
  if agent_is_gone; then fail "the agent has ended"; fi
  wait_for 20 curl -sf --max-time 5 http://127.0.0.1:9464/healthz
}

# A step of the job may take a minute, and without a capability several times what it has taken with all.
declare -A patience # COMMAND: seconds
done_in_time() { # COMMAND...
  local began seconds
  began=$(milliseconds)
  wait_for "${patience["$*"]:-60}" "$@"
  seconds=$((4 + ($(milliseconds) - began) / 250))
  patience["$*"]=${patience["$*"]:-$((seconds < 20 ? seconds : 20))}
}

# All that the agent does on a node. It ends where something is not done in time.
job() {
  begin_agent
  done_in_time is_exclusive
  done_in_time is_prepared
  attach live 0
  attach dead 1
  done_in_time tells "$(vf_pci 0 1)" attachment "pod default/dead (net1)"
  done_in_time counts_port_of live
  ip netns delete dead
  done_in_time has_records live:net1
  done_in_time tells "$(vf_pci 0 1)" healthy true
}
agent_conf ".hostMountNamespace = \"/proc/1/ns/mnt\" | .pfs = [{rootDevices: [\"$PF1\"], numVfs: 2}]"

before_job() {
  no_vfs
  rm -rf /var/lib/ibpod/preparation
  wait_for 10 rdma system set netns shared
}
after_job() {
  end_agent TERM
  detach live 0
  if [[ " $(records) " == *" dead:net1 "* ]]; then detach dead 1; fi
}

say "with all of them"
run_with "${granted[@]}"
before_job
job
after_job
peak=$(($(cat "$group/memory.peak") / 1048576))
expect_eq "ended by the kernel for memory" "$(sed -n 's/^oom_kill //p' "$group/memory.events")" 0

for missing in $(sample 1 "${granted[@]}"); do
  say "without $missing"
  rest=()
  for each in "${granted[@]}"; do [ "$each" = "$missing" ] || rest+=("$each"); done
  run_with "${rest[@]}"
  before_job
  : >"$WORK/agent.log"
  # The case goes on where a part of it fails.
  if (job) >"$WORK/without" 2>&1; then fail "nothing needs $missing: take it out of $manifest"; fi
  tail -n 1 "$WORK/without"
  jq -r 'select(.level == "warning" or .level == "error") | .msg | select(startswith("configuration:") | not)' "$WORK/agent.log" | sort -u | head -n 4
  # shellcheck disable=SC2034 # for agent.sh
  agent_pid=$(pgrep -x ibpod-agent || true)
  after_job
done

echo "note: at most $peak MiB of $limit"
