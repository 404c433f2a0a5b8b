#!/bin/bash
# A pod gets a VF with the GUID asked for, its RDMA device, an address from host-local; DEL gives all of it back.
# deadline: 60
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 0)
set_static_guid 0 0 02:00:00:00:00:00:01:01
new_pod p1
before=$(nodestate)

cat >"$WORK/conf" <<J
{"cniVersion": "1.0.0", "name": "ibnet", "type": "ib-sriov", "deviceID": "$vf", "rdmaIsolation": true,
 "guid": "02:00:00:00:00:00:aa:01", "link_state": "auto",
 "ipam": {"type": "host-local", "subnet": "10.7.0.0/24", "dataDir": "$WORK/leases"}}
J
cni ADD p1 net1 <"$WORK/conf"
echo "$out"; cat "$WORK/err"
[ "$rc" = 0 ] || fail "ADD"
ip -n p1 addr; ip netns exec p1 rdma link
expect_eq "port GUID" "$(port_guid p1 "$vf")" 0200:0000:0000:aa01
expect_eq "RDMA devices in the pod" "$(ip netns exec p1 rdma dev | wc -l)" 1
cni DEL p1 net1 <"$WORK/conf"
cat "$WORK/err"
[ "$rc" = 0 ] || fail "DEL"
expect_eq "the node" "$(nodestate)" "$before"
