#!/bin/bash
# A change of a device's health is seen at once, reported with its reason and counted, and reported again when it is
# healthy. A bad configuration changes nothing.
# deadline: 300
# quick: a failing device is reported at once, with its reason
. "$ROOT/tests/vm/agent.sh"

vf=$(vf_pci 0 0)
pool='pool="example.com\/vfs"'
became() { metric "ibpod_health_changes_total{$pool,reason=\"$1\"}"; } # REASON: how many devices did
offered() { metric "ibpod_pool_devices{$pool,state=\"$1\"}"; }        # STATE: how many devices are

# Its answers about a device may change more than once while the device comes or goes, and its metrics follow a moment later.
# shellcheck disable=SC2053
says_why() { [[ $(told "$vf" reason) == $1 ]]; }                  # GLOB
offers() { [ "$(offered "$1")" = "$2" ]; }                        # STATE NUMBER
has_become() { [ "$(became "$1")" = "$2" ]; }                     # REASON NUMBER
has_become_since() { [ "$(became "$1")" -gt "$2" ]; }             # REASON BEFORE

falls_ill() { # SECONDS REASON WHY BEFORE
  wait_for "$1" tells "$vf" healthy false
  wait_for 5 says_why "$3"
  wait_for 5 offers healthy 0
  wait_for 5 has_become "$2" "$(($4 + 1))"
}
recovers() { # SECONDS BEFORE
  wait_for "$1" tells "$vf" healthy true
  wait_for 5 offers healthy 1
  wait_for 5 has_become healthy "$(($2 + 1))"
}
count() { became "$1" | grep . || echo 0; } # REASON

set_static_guid 0 0 02:00:00:00:00:00:0a:00
agent_conf .
start_agent
wait_for 10 tells "$vf" healthy true
expect_match "the others have no GUID" "$(told "$(vf_pci 0 1)" reason)" "*GUID*"
wait_for 5 offers healthy 1

say "the driver leaves and comes back"
ill=$(count noDriver) well=$(count healthy)
echo "$vf" >/sys/bus/pci/drivers/softhca/unbind
falls_ill 5 noDriver "*driver*" "$ill"
echo "$vf" >/sys/bus/pci/drivers/softhca/bind
# The port is ACTIVE a moment later, of which no event tells.
wait_for 70 tells "$vf" healthy true
wait_for 5 offers healthy 1
(wait_for 5 has_become_since healthy "$well") || fail "no change for the better was counted"

say "its port goes down and up"
ill=$(count portNotActive) well=$(count healthy)
set_policy 0 0 disable
falls_ill 70 portNotActive "*DOWN*" "$ill"
set_policy 0 0 auto
recovers 70 "$well"

say "a bad configuration is refused, and the last good one goes on serving"
agent_conf '.sweepSeconds = 1'
wait_for 10 grep -q "the last good one stays in force: sweepSeconds" "$WORK/agent.log"
expect_eq "the file is no good" "$(metric ibpod_config_good)" 0
expect_eq "healthy devices" "$(offered healthy)" 1
agent_conf .
is_good() { [ "$(metric ibpod_config_good)" = 1 ]; }
wait_for 10 is_good

say "an adapter's VFs leave the bus and come back"
other=$(vf_pci 1 0)
vfs=$(cat "/sys/bus/pci/devices/$PF1/sriov_numvfs")
before=$(offered unhealthy)
echo 0 >"/sys/bus/pci/devices/$PF1/sriov_numvfs"
has_vfs() { [ "$(cat "/sys/bus/pci/devices/$PF1/sriov_numvfs")" != 0 ]; }
make_again() { has_vfs || echo "$vfs" >"/sys/bus/pci/devices/$PF1/sriov_numvfs"; }
at_end make_again
wait_for 10 tells "$other" address ""
wait_for 10 offers unhealthy "$((before - vfs))"
echo "$vfs" >"/sys/bus/pci/devices/$PF1/sriov_numvfs"
wait_for 10 tells "$other" address "$other"
wait_for 10 offers unhealthy "$before"
