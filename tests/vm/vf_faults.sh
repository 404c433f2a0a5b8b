# The fault loop over a verb of ib-sriov, for the cases faults_add and faults_del. Meanwhile two pods on other VFs talk, and
# notice nothing.
# shellcheck shell=bash disable=SC2016
. "$ROOT/tests/vm/lib.sh"
. "$ROOT/tests/vm/faults.sh"
. "$ROOT/tests/vm/traffic.sh"

# Bound again for its GUID, and its RDMA device moves. Without addresses: a port that was bound again waits a second and more
# for the subnet manager, which addresses would have every point wait for, too.
isolated() {
  set_static_guid 0 0 02:00:00:00:00:00:01:01
  network isolated "$(vf_pci 0 0)" '"rdmaIsolation": true, "guid": "02:00:00:00:00:00:aa:01", "link_state": "enable", "mtu": 1500'
}

# A VF as the kernel has made it, without a GUID to go back to; and the pod has a device-info file.
fresh() {
  node_config '{deviceInfoDir: $work}'
  network fresh "$(vf_pci 0 1)" '"guid": "02:00:00:00:00:00:aa:02", "capabilities": {"CNIDeviceInfoFile": true},
 "runtimeConfig": {"CNIDeviceInfoFile": "'"$WORK/devinfo"'"}'
}

# Only its interface moves. Its port stays ACTIVE in its partition, so that every step up to the announcement comes at once.
addressed() {
  local guid=02:00:00:00:00:00:01:03 vf
  vf=$(vf_pci 0 2)
  set_static_guid 0 2 "$guid"
  partition blue "0x0001, indx0" "$guid=full"
  wait_for 10 first_pkey_is host "$vf" 0x8001
  network addressed "$vf" '"pkey": "0x8001", "mtu": 1500' ', "addresses": true'
}

fault_loop_over() { # ADD|DEL
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
  sum_up "; $echoes_answered echoes of $echoes_sent, $rdma_pings RDMA pings"
}
