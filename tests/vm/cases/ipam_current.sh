#!/bin/bash
# The current host-local and static, built from their public module, at 1.1.0: ADD, CHECK, STATUS, GC, DEL.
# lane: ipam
. "$ROOT/tests/vm/lib.sh"

export CNI_PATH=$IBPOD_BIN:$ROOT/build/ipam
vf=$(vf_pci 0 1)
set_static_guid 0 1 02:00:00:00:00:00:01:01
new_pod p1
remember_node

say "host-local"
conf "$vf" "$host_local | .cniVersion = \"1.1.0\""
call STATUS ""
expect_eq "STATUS" "$rc" 0
add p1
expect_result '.cniVersion == "1.1.0" and .ips[0].address == "10.7.0.2/24" and .ips[0].interface == 0'
must CHECK p1
reserved() { find "$WORK/leases" -name '10.7.*' | wc -l; }

# host-local 1.9.1 takes a GC and does nothing: what gives the address back is the DEL for each stale record.
say "GC of a pod that is gone gives its address back; that of a living one stays"
gc p1
expect_eq "addresses" "$(reserved)" 1
ip netns delete p1
gc
expect_eq "addresses" "$(reserved)" 0
make_netns p1

say "static"
conf "$vf" '.ipam = {type: "static", addresses: [{address: "10.8.0.2/24"}, {address: "fd08::2/64"}]}'
call STATUS ""
expect_eq "STATUS" "$rc" 0
add p1
expect_result '[.ips[].address] == ["10.8.0.2/24", "fd08::2/64"]'
keep_result
must CHECK p1
gc p1
del p1
expect_unchanged "all of it"
