#!/bin/bash
# A pod whose default network is of VFs: its eth0 is one, by cni-args alone; a network of the same resource gets the same VF, which is refused for good; rails with resources of their own attach.
# deadline: 200
# machine: default cluster
. "$ROOT/tests/vm/agent.sh"
. "$ROOT/tests/vm/multus.sh"

vf=$(vf_pci 0 1) second=$(vf_pci 0 2) rail=$(vf_pci 1 1)
set_static_guid 0 1 02:00:00:00:00:00:01:01
set_static_guid 0 2 02:00:00:00:00:00:01:02
set_static_guid 1 1 02:00:00:00:00:00:02:01
install_multus
for_guids='.capabilities.infinibandGUID = true'
network flat ib/rail_0 7 "$for_guids"
network same ib/rail_0 8 "$for_guids"
network rail ib/rail_1 9 "$for_guids"
new_pod p1
give p1 ib/rail_0 "$vf" "$second"
give p1 ib/rail_1 "$rail"

say "GC before any ADD"
jq '.cniVersion = "1.1.0"' "$WORK/multus" >"$WORK/newer"
cni GC p1 eth0 <"$WORK/newer"
expect_eq "the answer" "$rc $(jq -r .code <<<"$out")" "1 999"

say "a pod that is not there: nothing is called, and it is a success"
multus_must ADD p1
expect_eq "the address" "$(jq -r '.ips[0].address' <<<"$out")" 0.0.0.0/0
multus_must DEL p1

say "the VF is eth0, and its GUID comes by cni-args"
asked=02:00:00:00:00:00:aa:01 ignored=02:00:00:00:00:00:aa:02
pod p1 "" "[{\"name\": \"flat\", \"namespace\": \"default\", \"infiniband-guid\": \"$ignored\", \"cni-args\": {\"guid\": \"$asked\"}}]"
multus_must ADD p1
expect_eq "the interface" "$(netdev p1 "$vf")" eth0
expect_eq "the GUID" "$(port_guid p1 "$vf")" 0200:0000:0000:aa01
expect_eq "what the pod is told" "$(network_status p1 eth0 '"\(.name) \(.default) \(."device-info")"')" "default/flat true null"
multus_must DEL p1
expect_eq "records" "$(records)" ""

say "a network of the same resource: Multus gives it the same VF"
pod p1 same default/flat
multus ADD p1
[ "$rc" != 0 ] || fail "it attached"
expect_match "the refusal" "$(jq -r '"\(.code) \(.msg)"' <<<"$out")" \
  "999 *$vf is already in this pod, as eth0: *use the same device, which is not possible*use one resource per rail*"
expect_eq "records" "$(records)" ""

say "a rail of another resource"
pod p1 rail default/flat
multus_must ADD p1
expect_eq "the interfaces" "$(netdev p1 "$vf") $(netdev p1 "$rail")" "eth0 net1"
expect_eq "of the rail the pod is told the device" "$(network_status p1 net1 '."device-info".pci."pci-address"')" "$rail"
multus_must DEL p1
expect_eq "records" "$(records)" ""
expect_eq "device-info files" "$(ls "$device_info/cni")" ""
