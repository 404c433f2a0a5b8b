#!/bin/bash
# Whichever step of ADD or DEL fails or is the plugin's last, DEL, or GC without any DEL, puts the node back.
# deadline: 300 4800
# full: faults
. "$ROOT/tests/vm/lib.sh"

network() { # NAME VF KEYS: with an IPAM that speaks 1.1.0, as GC came with that version
  cat >"$WORK/$1.conf" <<J
{"cniVersion": "1.1.0", "name": "$1", "type": "ib-sriov", "deviceID": "$(vf_pci 0 "$2")", $3,
 "ipam": {"type": "plain", "folder": "$WORK/leases"}, "cni.dev/valid-attachments": []}
J
}

# The one is bound anew for its GUID and its RDMA device moves; the other moves its interface alone.
network isolated 0 '"rdmaIsolation": true, "guid": "02:00:00:00:00:00:aa:01", "link_state": "enable", "mtu": 1500'
network interface 1 '"mtu": 1500'
set_static_guid 0 0 02:00:00:00:00:00:01:01
set_static_guid 0 1 02:00:00:00:00:00:01:02
mkdir "$WORK/leases"

export PLUGIN=$IBPOD_BIN/ib-sriov CNI_PATH=$IBPOD_BIN:$ROOT/tests/vm/ipam LEASES=$WORK/leases
export POINTS=${POINTS:-48}
if [ "$FULL" = 1 ]; then POINTS=all; fi
echo "seed $SEED"
fault_loop "$WORK/isolated.conf" "$WORK/interface.conf"
