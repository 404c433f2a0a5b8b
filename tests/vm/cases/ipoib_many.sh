#!/bin/bash
# ipoib: many pods on one master, made and ended eight at a time; nothing is left of them.
# deadline: 240 2400
# full: ipoib-many
# machine: crowd
. "$ROOT/tests/vm/ipoib.sh"

pods=24
[ "$FULL" = 0 ] || pods=200
blue
remember_node
for ((i = 1; i <= pods; i++)); do
  new_pod "p$i"
  child_conf "p$i" 0 '.ipam.addresses |= map(select(.address | startswith("10.")))'
done
names=()
for ((i = 1; i <= pods; i++)); do names+=("p$i"); done
for ((i = 0; i < pods; i += 8)); do at_once ADD "${names[@]:i:8}"; done
reaches p1 "10.9.0.$((pods / 2))"
reaches "p$pods" 10.9.0.1
for ((i = 0; i < pods; i += 8)); do at_once DEL "${names[@]:i:8}"; done
for name in "${names[@]}"; do delete_pod "$name"; done
expect_unchanged "$pods pods"
echo "note: $pods pods"
