#!/bin/bash
# STATUS: ok, and 50 for what no ADD on this node can survive.
# quick: STATUS names what makes every ADD fail
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
conf "$vf" ".rdmaIsolation = true | $lease"
call STATUS ""
expect_eq "STATUS and its output" "$rc$out" 0

say "without a device: STATUS speaks of the network"
conf "$vf" "del(.deviceID)"
call STATUS ""
expect_eq "STATUS" "$rc" 0

say "the IPAM plugin's own"
conf "$vf" "$lease"
mkdir -p "$WORK/leases" && touch "$WORK/leases/broken"
call STATUS ""
expect_error 50 "*ipam lease: the address pool is broken*"

say "no such IPAM plugin"
conf "$vf" '.ipam = {type: "nowhere"}'
call STATUS ""
expect_error 50 "*ipam nowhere: no such program*$ROOT/tests/vm/ipam*"

say "an IPAM plugin that stops at 1.0.0"
conf "$vf" "$host_local | .cniVersion = \"1.1.0\""
call STATUS ""
expect_error 50 "*host-local: it supports *1.0.0, but not *1.1.0"

say "nowhere to keep records"
node_config '{stateDir: "/sys/ibpod"}'
conf "$vf"
call STATUS ""
expect_error 50 "stateDir:*"
rm /etc/ibpod/cni.json

say "1.0.0 has no STATUS"
conf "$vf" '.cniVersion = "1.0.0"'
call STATUS ""
expect_error 1 "*STATUS requires cniVersion 1.1.0*"
