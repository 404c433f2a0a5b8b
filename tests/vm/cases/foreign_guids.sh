#!/bin/bash
# VFs with GUIDs of another program keep them; with guids "pool" idle ones get those of the pool, and one in use when its user has gone.
# deadline: 300
# full: agent
. "$ROOT/tests/vm/agent.sh"

own_vfs 3

foreign() { echo "02:00:00:00:00:00:0f:0$1"; }      # VF
is_foreign() { [ "$(port_guid "$1" "$(vf_pci 1 "$2")")" = "0200:0000:0000:0f0$2" ]; } # POD VF
guid() { port_guid host "$(vf_pci 1 "$1")"; }       # VF
is_replaced() { [ -n "$(guid "$1")" ] && ! is_foreign host "$1"; } # VF
pfs() { agent_conf ".pfs = [{rootDevices: [\"$PF1\"], guids: \"$1\"}]"; } # keep|pool

make_foreign_vfs() { # as a script of another program does
  local vf
  no_vfs
  echo 3 >"/sys/bus/pci/devices/$PF1/sriov_numvfs"
  for vf in 0 1 2; do
    set_guid 1 "$vf" "$(foreign "$vf")"
    set_policy 1 "$vf" auto
    rebind "$(vf_pci 1 "$vf")"
  done
}

# As another plugin, without records and locks of ours: the interface goes to the pod.
attach_by_hand() { # POD VF
  new_pod "$1"
  ip link set "$(netdev host "$(vf_pci 1 "$2")")" netns "$1" name net1
  ip -n "$1" link set net1 up
}
start_program() { # VF: it opens the RDMA device, and waits for its other side
  ibv_rc_pingpong -d "$(rdma_device host "$(vf_pci 1 "$1")")" >"$WORK/program" 2>&1 &
  program=$!
  at_end end_program
  wait_for 20 listens_tcp host
}
end_program() {
  kill "$program" 2>/dev/null || true
  wait "$program" 2>/dev/null || true
}
finds() { [[ $(ctl doctor || true) == *"$1"* ]]; }   # TEXT
finds_no() { ! finds "$1"; }                          # TEXT
errors_are() { [ "$(metric "ibpod_preparation_errors{pf=\"$PF1\"}")" = "$1" ]; } # NUMBER; "" for none
waits="keeps GUIDs that are not of the pool until nothing uses it"

say "GUIDs of others are kept"
make_foreign_vfs
attach_by_hand other 1
start_program 2
pfs keep
start_agent
for vf in 0 1 2; do bound[vf]=$(binding "$(vf_pci 1 "$vf")"); done
expect_eq "GUIDs" "$(guid 0) $(guid 1) $(guid 2)" "0200:0000:0000:0f00 0200:0000:0000:0f01 0200:0000:0000:0f02"
finds_no "$waits" || fail "kept, and reported all the same"

say "the idle one gets another, the two in use wait"
pfs pool
wait_for 30 is_replaced 0
wait_for 10 is_active host "$(vf_pci 1 0)"
wait_for 20 finds "$waits: it is in use: its interface is not in the host's namespace"
finds "process $program has its RDMA device open" || fail "$(ctl doctor)"
errors_are 1 || fail "the metric: $(metric "ibpod_preparation_errors.*")"
sleep 11 # two sweeps
for vf in 1 2; do
  is_foreign host "$vf" || fail "VF $vf has another GUID: $(guid "$vf")"
  expect_eq "bind of VF $vf" "$(binding "$(vf_pci 1 "$vf")")" "${bound[vf]}"
done
expect_eq "the pod's interface" "$(ip -n other -br link show net1 | cut -d' ' -f1)" net1
expect_eq "lines in the log" "$(grep -c "$waits" "$WORK/agent.log")" 1

say "their users end, one after the other"
end_program
wait_for 30 is_replaced 2
is_foreign host 1 || fail "VF 1 has another GUID, and its pod runs"
delete_pod other
wait_for 30 is_replaced 1
wait_for 20 finds_no "$waits"
wait_for 10 errors_are ""
replaced="$(guid 0) $(guid 1) $(guid 2)"
expect_eq "different GUIDs" "$(tr ' ' '\n' <<<"$replaced" | sort -u | wc -l)" 3
for vf in 0 1 2; do bound[vf]=$(binding "$(vf_pci 1 "$vf")"); done
end_agent TERM
start_agent
for vf in 0 1 2; do expect_eq "bind of VF $vf, after a second start" "$(binding "$(vf_pci 1 "$vf")")" "${bound[vf]}"; done
end_agent TERM

say "killed meanwhile"
for ms in $(sample 2 100 150 200 250 300 350 400 500 600 800); do
  make_foreign_vfs
  ibpod-agent --config "$WORK/agent.json" --node vm >>"$WORK/agent.out" 2>>"$WORK/agent.log" &
  # shellcheck disable=SC2034 # for agent.sh
  agent_pid=$!
  sleep "$(printf '0.%03d' "$ms")"
  end_agent KILL
  start_agent
  expect_eq "GUIDs, killed after $ms ms" "$(guid 0) $(guid 1) $(guid 2)" "$replaced"
  for vf in 0 1 2; do has_mad_agent "$(vf_pci 1 "$vf")" || fail "killed after $ms ms: VF $vf has no MAD agent"; done
  end_agent TERM
done
