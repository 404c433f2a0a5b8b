#!/bin/bash
# With addresses the key must be at index 0, the only one that IPoIB uses; without, any index counts.
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 1 1)
info=$WORK/devinfo
node_config "{deviceInfoDir: \"$WORK\"}"
set_static_guid 1 1 02:00:00:00:00:00:02:01
new_pod p1
partition blue 0x0001 02:00:00:00:00:00:02:01=full
wait_for 5 has_pkey host "$vf" 0x8001

say "at index 1, with ipam"
conf "$vf" ".pkey = \"0x8001\" | .timeoutSeconds = 2 | $lease"
call ADD p1
expect_error 11 "*0x8001 is at index 1 of the P_Key table, and IPoIB uses index 0 only*"
expect_match "details" "$(jq -r .details <<<"$out")" "*P_Key table: 0:0x7fff 1:0x8001, timeoutSeconds of this network is *"

say "at index 1, without"
conf "$vf" ".pkey = \"0x8001\" | .runtimeConfig.CNIDeviceInfoFile = \"$info\""
add p1
expect_eq "device-info" "$(jq -r '.pci | "\(.pkey) \(."pkey-index")"' "$info")" "0x8001 1"
del p1

say "at index 0, with ipam"
partition blue "0x0001, indx0" 02:00:00:00:00:00:02:01=full
is_first() { [[ $(pkeys host "$vf") == 0:0x8001* ]]; }
wait_for 10 is_first
conf "$vf" ".pkey = \"0x8001\" | $lease"
add p1
expect_eq "the interface's own key" "$(ip netns exec p1 cat /sys/class/net/net1/pkey)" 0x8001
del p1
