#!/bin/bash
# Eight VFs are given back at once while OpenSM sweeps, and take each other's GUIDs: it never sees one GUID twice.
# deadline: 240
. "$ROOT/tests/vm/lib.sh"

configure() { # SHIFT
  local i
  for i in {0..7}; do
    conf_of "p$i" "$(vf_pci 0 "$i")" \
      ".guid = \"02:00:00:00:00:00:aa:0$(((i + $1) % 8))\" | .link_state = \"auto\" | .timeoutSeconds = 60"
  done
}

for i in {0..7}; do new_pod "p$i"; done
lines=$(wc -l <"$opensm_dir/opensm.log")
remember_node
for shift in 0 1; do
  configure "$shift"
  at_once ADD p{0..7}
  for i in {0..7}; do wait_for 20 is_active host "$(vf_pci 0 "$i")"; done
  kill -HUP "$(pidof opensm)"
  at_once DEL p{0..7}
done
expect_unchanged "ADDs and DELs"
reload_opensm # by then each sweep that may have seen one is over
expect_eq "what OpenSM says of duplicates" "$(tail -n "+$lines" "$opensm_dir/opensm.log" | grep -i duplicate || true)" ""
