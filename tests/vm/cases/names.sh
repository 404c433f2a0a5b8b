#!/bin/bash
# Devices that the kernel makes again get the lowest free name, perhaps another VF's; while autoprobe is 0 no VF binds.
. "$ROOT/tests/vm/lib.sh"

driver=/sys/bus/pci/drivers/softhca
one=$(vf_pci 0 1) other=$(vf_pci 0 2)
bind() { echo "$1" >$driver/bind; } # PCI
swap() { # FIRST SECOND: unbinds both, and binds them in this order
  echo "$1" >$driver/unbind
  echo "$2" >$driver/unbind
  bind "$1"
  bind "$2"
}

say "two VFs; no lower number is free"
nets=$({ netdev host "$one" && netdev host "$other"; } | sort -V | xargs)
devices=$({ rdma_device host "$one" && rdma_device host "$other"; } | sort -V | xargs)
for order in "$other $one" "$one $other"; do
  read -r first second <<<"$order"
  swap "$first" "$second"
  expect_eq "interfaces of the VF bound first and the other" "$(netdev host "$first") $(netdev host "$second")" "$nets"
  expect_eq "RDMA devices" "$(rdma_device host "$first") $(rdma_device host "$second")" "$devices"
done

say "autoprobe 0"
pf=/sys/bus/pci/devices/$PF1
vfs=$(<"$pf/sriov_numvfs")
probe() { echo "$1" >"$pf/sriov_drivers_autoprobe"; } # 0|1
make_vfs() {
  echo 0 >"$pf/sriov_numvfs"
  echo "$vfs" >"$pf/sriov_numvfs"
}
at_end make_vfs
at_end probe 1
probe 0
make_vfs
vf=$(vf_pci 1 0)
expect_eq "VFs with a driver" "$(find -L "$pf"/virtfn* -maxdepth 1 -name driver | wc -l)" 0
expect_refused "*No such device" bind "$vf"
probe 1
bind "$vf"
expect_match "interface of a VF bound by hand" "$(netdev host "$vf")" "ib*"
