#!/bin/bash
# Multus with a daemon: a DEL while it is away is a success that does nothing, and the agent gives the VF back; an ADD waits for it.
# deadline: 300
# machine: default cluster
. "$ROOT/tests/vm/agent.sh"
. "$ROOT/tests/vm/multus.sh"

# shellcheck disable=SC2034 # multus.sh reads it
thick=1
vf=$(vf_pci 0 1)
set_static_guid 0 1 02:00:00:00:00:00:01:01
install_multus
network blue ib/rail_0 7 .
new_pod p1
give p1 ib/rail_0 "$vf"
agent_conf .
start_agent
wait_for 20 tells "$vf" healthy true
gives_back() { [ -z "$(records)" ] && [ -n "$(rdma_device host "$vf")" ]; }

say "ADD and DEL"
pod p1 blue
multus_must ADD p1
expect_eq "the interface" "$(netdev p1 "$vf")" net1
expect_eq "the status in the pod" "$(network_status p1 net1 '."device-info".pci."pci-address"')" "$vf"
multus_must DEL p1
expect_eq "records" "$(records)" ""

say "a failure in the daemon is one of the call, and its number is lost"
pod p1 blue,blue # of which the second one has no device
multus ADD p1
expect_eq "the exit" "$rc $(jq -r .code <<<"$out")" "1 999"
expect_match "the message" "$(jq -r .msg <<<"$out")" "*deviceID*"
expect_eq "records" "$(records)" ""

say "DEL while the daemon is away"
pod p1 blue
multus_must ADD p1
end_daemon
multus_must DEL p1
expect_eq "records" "$(records)" "p1:net1"
delete_pod p1
wait_for 60 gives_back

say "ADD waits for the daemon"
make_netns p1
(multus_must ADD p1; echo "$out" >"$WORK/waited") &
call=$!
wait_for 10 pgrep -x multus
[ ! -e "$WORK/waited" ] || fail "it did not wait"
start_daemon
wait "$call" || fail "ADD failed"
expect_eq "the interface" "$(netdev p1 "$vf")" net1
multus_must DEL p1
expect_eq "records" "$(records)" ""
