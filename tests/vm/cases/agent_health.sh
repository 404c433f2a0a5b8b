#!/bin/bash
# What happens to a device is seen at once, told with its reason, and told again when it is well.
# deadline: 240
. "$ROOT/tests/vm/agent.sh"

vf=$(vf_pci 0 0)
set_static_guid 0 0 02:00:00:00:00:00:0a:00
agent_conf .
start_agent
wait_for 10 tells "$vf" healthy true
expect_match "the others have no GUID" "$(told "$(vf_pci 0 1)" reason)" "*GUID*"
expect_eq "a metric" "$(metric 'ibpod_pool_devices{pool="example.com\/vfs",state="healthy"}')" 1

say "the driver leaves and comes back"
echo "$vf" >/sys/bus/pci/drivers/softhca/unbind
wait_for 5 tells "$vf" healthy false
expect_match "why" "$(told "$vf" reason)" "*driver*"
echo "$vf" >/sys/bus/pci/drivers/softhca/bind
wait_for 20 tells "$vf" healthy true

say "its port goes down and up"
set_policy 0 0 disable
wait_for 70 tells "$vf" healthy false
set_policy 0 0 auto
wait_for 70 tells "$vf" healthy true

say "an adapter's VFs leave the bus and come back"
other=$(vf_pci 1 0)
vfs=$(cat "/sys/bus/pci/devices/$PF1/sriov_numvfs")
echo 0 >"/sys/bus/pci/devices/$PF1/sriov_numvfs"
has_vfs() { [ "$(cat "/sys/bus/pci/devices/$PF1/sriov_numvfs")" != 0 ]; }
make_again() { has_vfs || echo "$vfs" >"/sys/bus/pci/devices/$PF1/sriov_numvfs"; }
at_end make_again
wait_for 10 tells "$other" address ""
echo "$vfs" >"/sys/bus/pci/devices/$PF1/sriov_numvfs"
wait_for 10 tells "$other" address "$other"
