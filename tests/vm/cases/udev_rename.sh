#!/bin/bash
# Like udev, something renames every interface of the VF as soon as it appears: ADD and DEL find it by its PCI address.
# quick: a VF is found whatever its interface is called
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
net=$(netdev host "$vf")
ip link set "$net" name ibp0v1
new_pod p1
remember_node

rename_all() {
  local name
  ip -o monitor link | while IFS=': ' read -r _ name _; do
    if [[ $name == ib+([0-9]) && -e /sys/bus/pci/devices/$vf/net/$name ]]; then
      echo "renaming $name"
      ip link set "$name" down
      ip link set "$name" name ibp0v1
    fi
  done
}
shopt -s extglob
set -m # a group of its own, to be ended as a whole
rename_all >"$WORK/renamed" &
udev=$!
set +m
stop_udev() {
  kill -- "-$udev"
  wait "$udev" 2>/dev/null || true
}
at_end ip link set ibp0v1 name "$net"
at_end stop_udev
monitors() { pgrep -f "ip -o monitor link"; }
wait_for 5 monitors

for isolation in false true; do
  say "isolation $isolation"
  conf "$vf" ".guid = \"02:00:00:00:00:00:aa:01\" | .rdmaIsolation = $isolation"
  add p1
  expect_eq "interface" "$(netdev p1 "$vf")" net1
  expect_eq "its GUID" "$(ip -n p1 -br link show net1 | grep -c 02:00:00:00:00:00:aa:01)" 1
  del p1
  expect_eq "interface on the host" "$(netdev host "$vf")" ibp0v1
  expect_unchanged "ADD and DEL"
done
[ -s "$WORK/renamed" ] || fail "nothing was ever renamed"
