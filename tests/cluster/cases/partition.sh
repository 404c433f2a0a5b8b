#!/bin/bash
# Pods in partitions: none runs before its port is verified; while OpenSM hangs the kubelet tries again; a VF goes on without the last pod's key, though its DEL comes late or the service is away.
# deadline: 1200
# machine: cluster
# shellcheck disable=SC2034
. "$ROOT/tests/cluster/node.sh"
. "$ROOT/tests/vm/sm.sh"
node=vm
pods_partition() { network_filter=".partition = \"$1\" | .timeoutSeconds = 10"; } # PARTITION: of those that come

# "STATE PROOF" of each binding, with its pod.
bindings() { sm --json binding list | jq -r '[.[] | "\(.pod.name) \(.state) \(.proof)"] | sort | join(", ")'; }
has_bindings() { local now; now=$(bindings) && [ "$now" = "$1" ]; } # "BINDING, ..."
# Those of tries that were refused go by themselves, and a service that starts looks at the ports of all again.
expect_bindings() { (wait_for 90 has_bindings "$1") || fail "bindings: $(bindings), want $1"; } # "BINDING, ..."
keys_of() { pkeys "$(netns_of "$1")" "$(vf_of "$1")"; } # POD
is_refused() { jq -e --arg pod "default/$1-$node" 'select(.pod == $pod and .code == 11)' "$here/log/ib-sriov"; } # POD
is_left() { [ -n "$(record_of "$1")" ]; } # POD
is_clean() { ! is_left "$1"; }            # POD
expect_no_key() { expect_match "P_Keys of $1" "$(pkeys host "$1")" "0:0x7fff"; } # VF
go_on() { kill -CONT "$opensm" 2>/dev/null || true; }

prepare_vfs 2
serve_node "${guids[@]}"
sm partition create blue --pkey 0x0001 --membership full --index0 --ipoib yes --allow default
sm partition create red --pkey 0x0002 --membership full --index0 --ipoib yes --allow default
pods_partition blue
agent_filter=$by_tls
start_daemons

say "a pod in a partition"
pod one 1
wait_for 180 runs one
expect_given one
expect_bindings "one-$node verified port"
expect_match "P_Keys of one" "$(keys_of one)" "0:0x8001*"

say "OpenSM hangs: a pod that comes is refused, tried again, and runs when OpenSM goes on"
opensm=$(pgrep -x opensm)
kill -STOP "$opensm"
at_end go_on
pod two 1
wait_for 180 is_refused two
expect_eq "restarts of the one that is there" "$(restarts one)" 0
go_on
wait_for 180 runs two
expect_given two
expect_match "P_Keys of two" "$(keys_of two)" "0:0x8001*"

say "a forced deletion: the VF is given away before its pod's DEL"
pods_partition red
write_networks
before=$(vf_of one)
delete one
pod heir 1
wait_for 180 runs heir
expect_given heir
expect_eq "the heir's VF" "$(vf_of heir)" "$before"
expect_bindings "heir-$node verified port, two-$node verified port"
expect_match "P_Keys of the heir" "$(keys_of heir)" "0:0x8002*"
expect_eq "the first one's key at the heir" "$(keys_of heir | grep -c 0x8001)" 0

say "the service is away: the pod goes, its VF waits"
before=$(vf_of two)
end_sm
delete two
wait_for 180 is_gone two
is_left two || fail "nobody knows that the key of two is on its port"
wait_for 60 offers "$(vf_of heir)"
run_sm
wait_for 90 is_clean two
expect_no_key "$before"
wait_for 90 offers "${vfs[@]}"
expect_bindings "heir-$node verified port"
expect_given heir

delete heir
wait_for 180 no_pod
wait_for 90 is_clean heir
for vf in "${vfs[@]}"; do expect_no_key "$vf"; done
expect_bindings ""
