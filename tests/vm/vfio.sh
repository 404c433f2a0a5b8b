# A VF, $vf, that goes to vfio-pci, and back to its own driver with its RDMA device's name, $name. Sourced after lib.sh.
# shellcheck shell=bash disable=SC2154
name=$(rdma_device host "$vf")
modprobe vfio-pci

give_to() { # DRIVER
  echo "$1" >"/sys/bus/pci/devices/$vf/driver_override"
  echo "$vf" >"/sys/bus/pci/devices/$vf/driver/unbind"
  echo "$vf" >/sys/bus/pci/drivers_probe
}
take_back() {
  give_to softhca
  echo >"/sys/bus/pci/devices/$vf/driver_override"
  rdma dev set "$(rdma_device host "$vf")" name "$name" || true
}
