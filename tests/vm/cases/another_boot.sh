#!/bin/bash
# A record of another boot: its namespace's path is another pod's now. The next ADD on that VF cleans up first.
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
new_pod p1
new_pod p2
conf "$vf" ".guid = \"02:00:00:00:00:00:aa:01\" | .link_state = \"auto\" | $lease"
remember_node
add p1
echo 11111111-2222-3333-4444-555555555555 >"$WORK/boot_id"
mount --bind "$WORK/boot_id" /proc/sys/kernel/random/boot_id
at_end umount /proc/sys/kernel/random/boot_id

say "GC"
gc p2
expect_unchanged "GC after the boot"
expect_eq "leases" "$(cd "$WORK/leases" && ls)" calls

say "the next ADD"
umount /proc/sys/kernel/random/boot_id
add p1
mount --bind "$WORK/boot_id" /proc/sys/kernel/random/boot_id
conf "$vf" ".guid = \"02:00:00:00:00:00:aa:02\" | .link_state = \"auto\" | $lease"
add p2
expect_eq "the VF's interface" "$(netdev p2 "$vf")" net1
expect_eq "leases" "$(cd "$WORK/leases" && ls -- *:*)" p2:net1
del p1
expect_eq "the VF's interface" "$(netdev p2 "$vf")" net1
del p2
expect_unchanged "all of it"

say "a boot that takes the VFs with it, and all their settings in the PF"
umount /proc/sys/kernel/random/boot_id
vfs=$(cat "/sys/bus/pci/devices/$PF1/sriov_numvfs")
lost=$(vf_pci 1 0)
set_static_guid 1 0 02:00:00:00:00:00:bb:01
new_pod p3
conf "$lost" "$lease"
add p3
mount --bind "$WORK/boot_id" /proc/sys/kernel/random/boot_id
delete_pod p3
is_home() { [ -n "$(netdev host "$lost")" ]; }
wait_for 10 is_home
echo 0 >"/sys/bus/pci/devices/$PF1/sriov_numvfs"
echo "$vfs" >"/sys/bus/pci/devices/$PF1/sriov_numvfs"
clear_guid 1 0
devices() { nodestate | grep -v '^file '; } # without records
before=$(devices)
name=$(rdma_device host "$lost")
del p3
expect_eq "the node's devices" "$(devices)" "$before"
expect_eq "the VF is not bound again" "$(rdma_device host "$lost")" "$name"
expect_eq "records" "$(ls "/var/lib/ibpod/attachments/$lost" 2>/dev/null || true)" ""
expect_eq "leases" "$(cd "$WORK/leases" && ls)" calls
