#!/bin/bash
# The device-info file, written before the attachment, gets the character devices as they are now, and no class more.
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
info=$WORK/devinfo
new_pod p1
given() { jq -r '.pci."rdma-device"' "$info"; }

jq -n --arg pci "$vf" '{type: "pci", version: "1.1.0", pci: {"pci-address": $pci, "pf-pci-address": "kept", 
  "rdma-device": "/dev/infiniband/issm77,/dev/infiniband/umad77,/dev/infiniband/uverbs77,/dev/infiniband/rdma_cm"}}' >"$info"
conf "$vf" ".guid = \"02:00:00:00:00:00:aa:01\" | .rdmaIsolation = true | .capabilities = {CNIDeviceInfoFile: true} |
  .runtimeConfig.CNIDeviceInfoFile = \"$info\""
add p1
verbs=$(ls "/sys/bus/pci/devices/$vf/infiniband_verbs")
expect_match "all classes" "$(given)" "*/dev/infiniband/$verbs,*rdma_cm"
expect_match "all classes" "$(given)" "*/dev/infiniband/issm+([0-9]),*"
expect_match "all classes" "$(given)" "*/dev/infiniband/umad+([0-9]),*"
expect_eq "stale ones" "$(given | grep -c 77 || true)" 0
expect_eq "what else was there" "$(jq -r '.pci."pf-pci-address"' "$info")" kept
tr , '\n' < <(given) | while read -r device; do
  [ -c "$device" ] || fail "$device is no character device"
done
del p1

say "only verbs were given"
jq '.pci."rdma-device" = "/dev/infiniband/uverbs77"' "$info" >"$info.new"
mv "$info.new" "$info"
add p1
expect_eq "devices" "$(given)" "/dev/infiniband/$(ls "/sys/bus/pci/devices/$vf/infiniband_verbs")"
del p1

say "there was no file"
rm "$info"
add p1
expect_eq "devices" "$(given)" "/dev/infiniband/$(ls "/sys/bus/pci/devices/$vf/infiniband_verbs"),/dev/infiniband/rdma_cm"
expect_eq "the function" "$(jq -r '.type + " " + .pci."pci-address"' "$info")" "pci $vf"
del p1
