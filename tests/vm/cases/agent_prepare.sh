#!/bin/bash
# The agent makes a PF's VFs, each with its own GUID before a driver binds it; killed anywhere and started again, it comes to
# the same; a second start changes nothing.
# deadline: 400
# full: agent
# complaint: infiniband softhca_[0-9]+: Couldn't open port 1
. "$ROOT/tests/vm/agent.sh"

first=$(vf_pci 1 0)
agent_conf ".pfs = [{rootDevices: [\"$PF1\"], numVfs: 3}]"

own_vfs 3

all_active() {
  local vf
  for vf in 0 1 2; do is_active host "$(vf_pci 1 "$vf")" || return 1; done
}
guids() {
  local vf
  for vf in 0 1 2; do port_guid host "$(vf_pci 1 "$vf")"; done
}

no_vfs
start_agent
expect_eq "VFs" "$(cat "/sys/bus/pci/devices/$PF1/sriov_numvfs")" 3
expect_eq "autoprobe" "$(cat "/sys/bus/pci/devices/$PF1/sriov_drivers_autoprobe")" 1
wait_for 20 all_active
made=$(guids)
expect_eq "different GUIDs" "$(sort -u <<<"$made" | wc -l)" 3
expect_eq "VFs without a GUID" "$(grep -c '^0000:0000:0000:0000$' <<<"$made")" 0
wait_for 20 tells "$first" healthy true
expect_eq "its pool" "$(told "$first" resource)" example.com/vfs
end_agent TERM
names=$(rdma_device host "$first")
start_agent
expect_eq "a second start does not bind the VFs again" "$(rdma_device host "$first")" "$names"
expect_eq "GUIDs" "$(guids)" "$made"
end_agent TERM

say "killed at many moments"
for ms in $(sample 2 20 60 120 180 240 300 360 420 480 540 600 700 800 1000); do
  no_vfs
  ibpod-agent --config "$WORK/agent.json" --node vm >>"$WORK/agent.out" 2>>"$WORK/agent.log" &
  # shellcheck disable=SC2034 # for agent.sh
  agent_pid=$!
  sleep "$(printf '%d.%03d' "$((ms / 1000))" "$((ms % 1000))")"
  end_agent KILL
  start_agent
  expect_eq "VFs, killed after $ms ms" "$(cat "/sys/bus/pci/devices/$PF1/sriov_numvfs")" 3
  expect_eq "autoprobe, killed after $ms ms" "$(cat "/sys/bus/pci/devices/$PF1/sriov_drivers_autoprobe")" 1
  expect_eq "GUIDs, killed after $ms ms" "$(guids)" "$made"
  for vf in 0 1 2; do has_mad_agent "$(vf_pci 1 "$vf")" || fail "killed after $ms ms: VF $vf has no MAD agent"; done
  end_agent TERM
done

say "more than the adapter has"
agent_conf ".pfs = [{rootDevices: [\"$PF1\"], numVfs: 250}]"
start_agent
expect_match "what it says" "$(ctl doctor || true)" "*250*"
