# The fault loop (tests/vm/fault_loop.cc) over a verb, for the cases faults_add and faults_del: on a sample of its steps, or
# on every one where the case runs whole.
# shellcheck shell=bash
. "$ROOT/tests/vm/lib.sh"

network() { # NAME VF KEYS: with an IPAM that speaks 1.1.0, as GC came with that version
  cat >"$WORK/$1.conf" <<J
{"cniVersion": "1.1.0", "name": "$1", "type": "ib-sriov", "deviceID": "$(vf_pci 0 "$2")", $3,
 "ipam": {"type": "plain", "folder": "$WORK/leases"}, "cni.dev/valid-attachments": []}
J
}

fault_loop_over() { # ADD|DEL
  # The one is bound anew for its GUID and its RDMA device moves; the other moves its interface alone.
  network isolated 0 '"rdmaIsolation": true, "guid": "02:00:00:00:00:00:aa:01", "link_state": "enable", "mtu": 1500'
  network interface 1 '"mtu": 1500'
  set_static_guid 0 0 02:00:00:00:00:00:01:01
  set_static_guid 0 1 02:00:00:00:00:00:01:02
  mkdir "$WORK/leases"
  if [ "$FULL" = 1 ]; then POINTS=all; fi
  echo "seed $SEED"
  VERBS=$1 POINTS=${POINTS:-24} PLUGIN=$(find_plugin) CNI_PATH=$CNI_PATH:$ROOT/tests/vm/ipam LEASES=$WORK/leases \
    fault_loop "$WORK/isolated.conf" "$WORK/interface.conf"
}
