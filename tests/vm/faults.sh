# The fault loop (tests/vm/fault_loop.cc) over a verb, for the cases faults_add and faults_del: on a sample of its steps, or
# on every one where the case runs whole. Meanwhile two pods on other VFs talk, and notice nothing.
# shellcheck shell=bash
. "$ROOT/tests/vm/lib.sh"
. "$ROOT/tests/vm/traffic.sh"

network() { # NAME VF KEYS [IPAM-KEYS]: with an IPAM that speaks 1.1.0, as GC came with that version
  cat >"$WORK/$1.conf" <<J
{"cniVersion": "1.1.0", "name": "$1", "type": "ib-sriov", "deviceID": "$(vf_pci 0 "$2")", $3,
 "ipam": {"type": "plain", "folder": "$WORK/leases"${4:-}}, "cni.dev/valid-attachments": []}
J
}

# Bound anew for its GUID, and its RDMA device moves. Without addresses: a port that was bound anew waits a second and more
# for the subnet manager, which addresses would have every point wait for, too.
isolated() {
  set_static_guid 0 0 02:00:00:00:00:00:01:01
  network isolated 0 '"rdmaIsolation": true, "guid": "02:00:00:00:00:00:aa:01", "link_state": "enable", "mtu": 1500'
}

# A VF as the kernel has made it, without a GUID to go back to; and the pod has a device-info file.
fresh() {
  network fresh 1 '"guid": "02:00:00:00:00:00:aa:02", "capabilities": {"CNIDeviceInfoFile": true},
 "runtimeConfig": {"CNIDeviceInfoFile": "'"$WORK/devinfo"'"}'
}

# Only its interface moves. Its port stays ACTIVE in its partition, so that every step up to the announcement comes at once.
addressed() {
  local guid=02:00:00:00:00:00:01:03 vf
  vf=$(vf_pci 0 2)
  set_static_guid 0 2 "$guid"
  partition blue "0x0001, indx0" "$guid=full"
  wait_for 10 first_pkey_is host "$vf" 0x8001
  network addressed 2 '"pkey": "0x8001", "mtu": 1500' ', "addresses": true'
}

# Those of its points that were asked for, or all.
loop() { # VERB POINTS SCENARIO...
  local verb=$1 points=$2 scenario confs=()
  shift 2
  if [ "$FULL" = 1 ]; then points=all; fi
  for scenario; do confs+=("$WORK/$scenario.conf"); done
  VERB=$verb POINTS=$points PLUGIN=$(find_plugin) CNI_PATH=$CNI_PATH:$ROOT/tests/vm/ipam LEASES=$WORK/leases \
    DEVICE_INFO=$WORK/devinfo fault_loop "${confs[@]}" | tee -a "$WORK/said"
}

fault_loop_over() { # ADD|DEL
  mkdir "$WORK/leases"
  echo "seed $SEED"
  prepare_talkers
  isolated
  fresh
  start_traffic '.rdmaIsolation = true'
  loop "$1" 16 isolated fresh
  stop_traffic
  rdma_mode shared
  addressed
  start_traffic .
  loop "$1" 8 addressed
  stop_traffic
  awk -v traffic="$echoes_answered echoes of $echoes_sent, $rdma_pings RDMA pings" '
    /^note:/ {tried += $2; of += $4; del += $7; gc += $11}
    END {printf "note: %d of %d points tried, %d recovered by DEL, %d by GC; %s\n", tried, of, del, gc, traffic}' \
    "$WORK/said"
}
