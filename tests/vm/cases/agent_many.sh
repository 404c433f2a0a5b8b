#!/bin/bash
# Thirty-two VFs on each of two PFs: each gets GUIDs of its own and is offered, in and out of a pod.
# machine: many
# deadline: 300
# lane: many
. "$ROOT/tests/vm/agent.sh"

as_before() {
  local pf vf
  for pf in 0 1; do
    for vf in {0..31}; do
      set_guid "$pf" "$vf" ff:ff:ff:ff:ff:ff:ff:ff
      set_policy "$pf" "$vf" disable
    done
    echo 0 >"/sys/bus/pci/devices/$(pf_pci "$pf")/sriov_numvfs"
    echo 32 >"/sys/bus/pci/devices/$(pf_pci "$pf")/sriov_numvfs"
  done
  rm -rf /var/lib/ibpod/preparation
}
at_end as_before

agent_conf ".pfs = [{rootDevices: [\"$PF0\", \"$PF1\"]}]"
start_agent
metric_is() { [ "$(metric "$1")" = "$2" ]; } # NAME{LABELS} VALUE
wait_for 120 metric_is 'ibpod_pool_devices{pool="example.com\/vfs",state="healthy"}' 64
expect_eq "GUIDs" "$(ctl --json devices | jq '[.[] | select(.pf != "") | .portGuid] | unique | length')" 64

say "one in a pod is offered as before; one whose RDMA device was moved is not"
new_pod p1
conf "$(vf_pci 0 31)" ".rdmaIsolation = true | $lease"
add p1
wait_for 20 tells "$(vf_pci 0 31)" attachment "pod default/p1 (net1)"
tells "$(vf_pci 0 31)" healthy true
new_pod other
rdma dev set "$(rdma_device host "$(vf_pci 1 31)")" netns other
wait_for 20 tells "$(vf_pci 1 31)" healthy false
expect_match "why" "$(told "$(vf_pci 1 31)" reason)" "*RDMA*"
wait_for 10 metric_is 'ibpod_pool_devices{pool="example.com\/vfs",state="healthy"}' 63
ip netns delete other
wait_for 20 tells "$(vf_pci 1 31)" healthy true
del p1
wait_for 20 tells "$(vf_pci 0 31)" attachment ""
wait_for 20 metric_is 'ibpod_pool_devices{pool="example.com\/vfs",state="healthy"}' 64
end_agent TERM
