#!/bin/bash
# A whole PF on vfio-pci goes to a virtual machine; one on its own driver is refused.
. "$ROOT/tests/vm/lib.sh"

new_pod p1
conf "$PF1"
refuse 7 "*$PF1 is a physical function*" p1

# The PF and its VFs get new names with a new driver: those from before are given back.
names() {
  local dir
  for dir in "/sys/bus/pci/devices/$PF1" "/sys/bus/pci/devices/$PF1"/virtfn*; do
    dir=$(readlink -f "$dir")
    echo "${dir##*/} $(ls "$dir/infiniband") $(ls "$dir/net")"
  done
}
rename_all() {
  local pci device net
  while read -r pci device net; do
    rdma dev set "$(rdma_device host "$pci")" name "mine-$device" && ip link set "$(netdev host "$pci")" name "mine-$net"
  done <"$WORK/names"
  while read -r _ device net; do
    rdma dev set "mine-$device" name "$device" && ip link set "mine-$net" name "$net"
  done <"$WORK/names"
}
give_to() { # DRIVER
  echo "$1" >"/sys/bus/pci/devices/$PF1/driver_override"
  [ ! -e "/sys/bus/pci/devices/$PF1/driver" ] || echo "$PF1" >"/sys/bus/pci/devices/$PF1/driver/unbind"
  echo "$PF1" >/sys/bus/pci/drivers_probe
}
take_back() {
  give_to softhca
  echo >"/sys/bus/pci/devices/$PF1/driver_override"
  echo "$vfs" >"/sys/bus/pci/devices/$PF1/sriov_numvfs"
  rename_all
  ip link set "$(netdev host "$PF1")" up
  wait_for 20 is_active host "$PF1"
}
names >"$WORK/names"
vfs=$(<"/sys/bus/pci/devices/$PF1/sriov_numvfs")
ip link set "$(netdev host "$PF1")" down
at_end take_back
echo 0 >"/sys/bus/pci/devices/$PF1/sriov_numvfs"
modprobe vfio-pci
give_to vfio-pci

conf "$PF1" ".vfioPciMode = true | $lease"
add p1
expect_result ".interfaces == [{name: \"net1\", sandbox: \"/run/netns/p1\", pciID: \"$PF1\"}] and .ips[0].address == \"10.9.0.1/24\""
must CHECK p1
expect_eq "leases" "$(cd "$WORK/leases" && ls -- *:*)" p1:net1
del p1
expect_eq "leases" "$(ls "$WORK/leases")" calls
expect_eq "records" "$(find /var/lib/ibpod -name '*.json')" ""
expect_eq "driver" "$(basename "$(readlink "/sys/bus/pci/devices/$PF1/driver")")" vfio-pci
