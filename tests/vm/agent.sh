# The node's agent, for the cases about it: its configuration, its start and end, what it tells.
# shellcheck shell=bash disable=SC2016,SC2034
. "$ROOT/tests/vm/lib.sh"

agent_pid=""
agent_runs=(ibpod-agent) # the program, and what it is run by

# Writes the agent's configuration, changed by a jq filter, "." for none. Without a kubelet: network
# namespaces alone say who lives. Renamed into place, as a ConfigMap is.
agent_conf() { # FILTER
  jq -n --arg work "$WORK" --arg bin "$IBPOD_BIN" '{
    kubelet: false, agentSocket: "\($work)/agent.sock", metricsAddress: "127.0.0.1:9464", cniBinDir: $bin,
    hostMountNamespace: "", cdiDir: "\($work)/cdi", deviceInfoDir: "\($work)/devinfo", sweepSeconds: 5,
    resourceList: [{resourcePrefix: "example.com", resourceName: "vfs", selectors: [{}]}]} | '"$1" >"$WORK/agent.new"
  mv "$WORK/agent.new" "$WORK/agent.json"
}

start_agent() { # returns when it answers, and shows its metrics
  "${agent_runs[@]}" --config "$WORK/agent.json" --node vm >>"$WORK/agent.out" 2>>"$WORK/agent.log" &
  agent_pid=$!
  at_end end_agent TERM
  wait_for 60 ctl devices
  wait_for 20 curl -sf --max-time 5 http://127.0.0.1:9464/healthz # its pages come after the socket
}

# One that is not done without from now on: returns when it has marked the node.
start_marking_agent() { # FILTER
  agent_conf "$1"
  at_end rm -f /var/lib/ibpod/agent
  start_agent
  wait_for 20 test -e /var/lib/ibpod/agent
}

agent_is_gone() { ! kill -0 "$agent_pid" 2>/dev/null; }

end_agent() { # SIGNAL
  if [ -z "$agent_pid" ]; then return 0; fi # in a trap, the bare one returns what was before
  kill "-$1" "$agent_pid" 2>/dev/null || true
  wait "$agent_pid" 2>/dev/null || true
  wait_for 20 agent_is_gone # also one that is no child of ours
  agent_pid=""
}

ctl() { ibpodctl --socket "$WORK/agent.sock" "$@"; }

# A member of a device, as ibpodctl has it; "null" for one that is not there.
told() { # PCI MEMBER
  ctl --json devices | jq -r --arg pci "$1" ".[] | select(.address == \$pci) | .$2"
}
tells() { [ "$(told "$1" "$2")" = "$3" ]; } # PCI MEMBER VALUE

metric() { # NAME{LABELS}
  curl -sf --max-time 5 http://127.0.0.1:9464/metrics | sed -n "s/^$1 //p"
}

records() { find /var/lib/ibpod/attachments -name '*.json' -printf '%f\n' 2>/dev/null | sed 's/\.json$//' | sort | xargs; }
has_records() { [ "$(records)" = "$1" ]; } # "NAME..."

# For a case whose agent makes VFs of the second PF: at its end these are as the harness has made them.
own_vfs() { # VFS: how many of them get GUIDs
  at_end vfs_as_before "$1" "$(cat "/sys/bus/pci/devices/$PF1/sriov_numvfs")"
}
vfs_as_before() { # VFS BEFORE
  local vf
  no_vfs
  echo 1 >"/sys/bus/pci/devices/$PF1/sriov_drivers_autoprobe"
  echo "$2" >"/sys/bus/pci/devices/$PF1/sriov_numvfs"
  for ((vf = 0; vf < $1; vf++)); do clear_guid 1 "$vf"; done
  rm -rf /var/lib/ibpod/preparation
}
# As after a boot.
no_vfs() { echo 0 >"/sys/bus/pci/devices/$PF1/sriov_numvfs"; }
