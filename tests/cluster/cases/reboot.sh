#!/bin/bash
# The node loses its power and comes back: what the pod had is cleaned up, and it has the same VF again.
# deadline: 600
# machine: cluster
. "$ROOT/tests/cluster/node.sh"

start_node 2
pod one 1
wait_for 180 runs one
vf=$(vf_of one) sandbox=$(sandbox_of one)

mv "$here/pods/one.json" "$WORK/one.json"
power_cut
is_home() { [ -n "$(rdma_device host "$vf")" ]; }
wait_for 20 is_home
echo 11111111-2222-3333-4444-555555555555 >"$WORK/boot_id"
mount --bind "$WORK/boot_id" /proc/sys/kernel/random/boot_id
at_end umount /proc/sys/kernel/random/boot_id

start_containerd
start_kubelet
start_agent
wait_for 90 offers "${vfs[@]}"
# A pod that is admitted before its device plugin is there is rejected, and a file is not tried again.
mv "$WORK/one.json" "$here/pods/one.json"
wait_for 180 runs one
expect_eq "the VF" "$(vf_of one)" "$vf"
[ "$(sandbox_of one)" != "$sandbox" ] || fail "the record is the old one"
expect_eq "the record's boot" "$(record_of one | jq -r .bootID)" "$(<"$WORK/boot_id")"
expect_given one

# For GC the pods of this boot are those of another one again: they have to go first.
delete one
wait_for 180 no_pod
