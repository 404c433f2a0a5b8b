#!/bin/bash
# A port that shows the SM service nothing: what the node's agent sees of it, in the pod and on the host, verifies and ends its binding.
# deadline: 240
. "$ROOT/tests/vm/agent.sh"
. "$ROOT/tests/vm/sm.sh"

vf=$(vf_pci 1 1) guid=02:00:00:00:00:00:02:01
set_static_guid 1 1 "$guid"
serve_node "$guid"
sm partition create blue --pkey 0x0001 --membership full --index0 --ipoib yes --allow default
sm partition create strict --pkey 0x0002 --membership full --index0 --ipoib yes --allow default --proof port
start_marking_agent "$by_tls"
new_pod p1
fault "$vf" hide_pkeys 2

in_partition() { # PARTITION [FILTER]
  conf "$vf" ".partition = \"$1\" | .cniVersion = \"1.0.0\" | ${2:-.} |
    .ipam = {type: \"static\", addresses: [{address: \"10.7.0.1/24\"}]}"
}

declare -A home=([true]=p1 [false]=host) # where the RDMA device is
for isolation in true false; do
  say "rdmaIsolation: $isolation"
  in_partition blue ".rdmaIsolation = $isolation"
  add p1
  expect_match "the binding" "$(state_of p1)" "verified node unknown none: "
  first_pkey_is "${home[$isolation]}" "$vf" 0x8001 || fail "p1 has $(pkeys "${home[$isolation]}" "$vf")"
  keep_result
  must CHECK p1
  del p1
  is_unbound || fail "left: $(sm --json binding list)"
  lacks_pkey host "$vf" 0x8001 || fail "its key is still there: $(pkeys host "$vf")"
done

say "a partition with proof: port"
in_partition strict '.timeoutSeconds = 8'
call ADD p1
expect_error 11 "*partition strict: not verified*"
del p1
wait_for 10 is_state p1 "releasing *requires proof from the port*"
no_fault "$vf" hide_pkeys
wait_for 30 is_unbound
wait_for 30 has_records ""
lacks_pkey host "$vf" 0x8002 || fail "its key is still there: $(pkeys host "$vf")"
