#!/bin/bash
# The device-info file that a device plugin has written says, after ADD, what the device is by now.
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
folder=$WORK/k8s.cni.cncf.io/devinfo/cni
info=$folder/info
node_config "{deviceInfoDir: \"$folder\"}"
new_pod p1
said() { jq -r ".pci.\"$1\"" "$info"; }

before=$(rdma_device host "$vf")
mkdir -p "$folder"
jq -n --arg pci "$vf" '{type: "pci", version: "1.1.0",
  pci: {"pci-address": $pci, "pf-pci-address": "kept", "rdma-device": "stale_0"}}' >"$info"
conf "$vf" ".guid = \"02:00:00:00:00:00:aa:01\" | .rdmaIsolation = true |
  .capabilities = {CNIDeviceInfoFile: true} | .runtimeConfig.CNIDeviceInfoFile = \"$info\""
add p1
expect_eq "the RDMA device, as the pod sees it" "$(said rdma-device)" "$(rdma_device p1 "$vf")"
expect_eq "what else was there" "$(said pf-pci-address)" kept
del p1

say "there was no file, nor its folder: as after a boot, where the device plugin writes none"
rm -r "$WORK/k8s.cni.cncf.io"
add p1
expect_eq "the RDMA device" "$(said rdma-device)" "$(rdma_device p1 "$vf")"
expect_eq "the function" "$(jq -r '.type + " " + .pci."pci-address"' "$info")" "pci $vf"
del p1

say "a folder that is not the node's is not made"
conf "$vf" ".capabilities = {CNIDeviceInfoFile: true} | .runtimeConfig.CNIDeviceInfoFile = \"$WORK/elsewhere/info\""
cni ADD p1 net1 <"$WORK/conf"
expect_match "the answer" "$(jq -r '"\(.code) \(.msg)"' <<<"$out")" "7 runtimeConfig.CNIDeviceInfoFile: *the only folder that this node allows*"
[ ! -e "$WORK/elsewhere" ] || fail "the folder was made"
expect_eq "its name on the host" "$(rdma_device host "$vf")" "$before"
