#!/bin/bash
# An IPAM plugin of 1.1.0 gets GC and STATUS; one that does not list the configuration's version makes ADD fail with both lists.
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
new_pod p1
remember_node

say "host-local of Debian stops at 1.0.0"
conf "$vf" ".guid = \"02:00:00:00:00:00:aa:01\" | .link_state = \"auto\" | $host_local | .cniVersion = \"1.1.0\""
refuse 1 "*ipam host-local: it supports *0.4.0*1.0.0, but not the configuration's cniVersion 1.1.0" p1
gc
expect_unchanged "a refused ADD, its DEL and a GC"

say "1.1.0"
conf "$vf" ".guid = \"02:00:00:00:00:00:aa:01\" | .link_state = \"auto\" | $lease"
add p1
expect_result '[.ips[].address] == ["10.9.0.1/24"]'
must CHECK p1
call STATUS ""
expect_eq "STATUS" "$rc" 0
echo 9 >"$WORK/leases/stranger:net1"
gc p1
expect_eq "leases after GC" "$(cd "$WORK/leases" && ls -- *:*)" p1:net1
del p1
expect_eq "verbs the plugin saw" "$(awk '{print $1}' "$WORK/leases/calls" | xargs)" "ADD CHECK STATUS GC DEL"
expect_unchanged "ADD and DEL"
