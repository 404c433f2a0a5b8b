#!/bin/bash
# ibv_devinfo inside the pod lists its device and only it.
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
new_pod p1
conf "$vf" '.guid = "02:00:00:00:00:00:aa:01" | .link_state = "auto" | .rdmaIsolation = true'
add p1
device=$(rdma_device p1 "$vf")
wait_for 10 is_active p1 "$vf"
said=$(ip netns exec p1 ibv_devinfo -v)
expect_eq "devices" "$(awk '/hca_id/ {print $2}' <<<"$said")" "$device"
expect_match "its port" "$said" "*PORT_ACTIVE*"
expect_match "its GID" "$said" "*GID*0]:*fe80:*:0200:0000:0000:aa01*"
expect_eq "on the host" "$(ibv_devinfo -l | grep -cw "$device" || true)" 0
del p1
expect_eq "on the host after DEL" "$(ibv_devinfo -l | grep -cw "$(rdma_device host "$vf")")" 1
