#!/bin/bash
# Eight ADDs on eight VFs at once, then eight DELs.
# machine: multi
# deadline: 180
. "$ROOT/tests/vm/lib.sh"

for i in {0..7}; do
  new_pod "p$i"
  conf_of "p$i" "$(vf_pci 0 "$i")" \
    ".guid = \"02:00:00:00:00:00:aa:0$i\" | .link_state = \"auto\" | .rdmaIsolation = true | $host_local"
done
remember_node
at_once ADD p{0..7}
addresses=$(for i in {0..7}; do ip -n "p$i" -o -4 address show net1 | awk '{print $4}'; done | sort -u | wc -l)
expect_eq "different addresses" "$addresses" 8
for i in {0..7}; do expect_eq "GUID of p$i" "$(port_guid "p$i" "$(vf_pci 0 "$i")")" "0200:0000:0000:aa0$i"; done
at_once DEL p{0..7}
expect_unchanged "eight ADDs and DELs"
expect_eq "addresses still reserved" "$(find "$WORK/leases" -name '10.7*' | wc -l)" 0
