#!/bin/bash
# Somebody holds host-local's lock: DEL fails, and keeps neither VF nor IPoIB child; the address is given back once the lock is free.
# deadline: 300
. "$ROOT/tests/vm/lib.sh"

owed() { (cd /var/lib/ibpod/addresses && find . -name '*.json' -printf '%h\n' | sort | xargs) 2>/dev/null || true; }
leases() { find "$WORK/leases/ibnet" -name "10.*" | wc -l; }
hold() { exec 9>"$WORK/leases/ibnet/lock" && flock 9; }
# But for the note of the address.
expect_only_owed() { # WHAT
  nodestate | grep -v '^file /var/lib/ibpod/addresses/' >"$WORK/but"
  expect_eq "$1" "$(diff "$WORK/node" "$WORK/but")" ""
}
let_go() { exec 9>&-; }

new_pod held
new_pod next
vf=$(vf_pci 0 1)
remember_node
guid=".guid = \"02:00:00:00:00:00:aa:01\" | .link_state = \"auto\" | .rdmaIsolation = true"
conf "$vf" "$guid | $host_local"
add held
expect_eq "addresses" "$(leases)" 1

say "DEL while the lock is held"
hold
call DEL held
expect_match "message" "$(jq -r .msg <<<"$out")" \
  "$vf is back and free for the next pod, but the pod's address is not yet released at ipam host-local *"
expect_eq "owed" "$(owed)" ./held:net1
expect_eq "records" "$(find /var/lib/ibpod/attachments -name '*.json')" ""
expect_only_owed "the VF and its node"

say "the next pod has the VF meanwhile, of another network"
cp "$WORK/conf" "$WORK/held"
conf "$vf" ".name = \"othernet\" | $guid"
add next
del next
expect_only_owed "the next pod's DEL"

say "the lock is free"
let_go
cp "$WORK/held" "$WORK/conf"
del held
expect_eq "owed" "$(owed)" ""
expect_eq "addresses" "$(leases)" 0

say "an IPoIB child, whose address GC gives back"
# shellcheck disable=SC2034 # for lib.sh
plugin=ipoib
master=$(pf_netdev 0)
conf "" "del(.deviceID) | .master = \"$master\" | $host_local"
add held
hold
call DEL held
expect_match "message" "$(jq -r .msg <<<"$out")" "the IPoIB child * is removed, but the pod's address is not yet released at *"
expect_eq "owed" "$(owed)" ./held:net1
expect_only_owed "the child"
let_go
conf "" "del(.deviceID) | .master = \"$master\" | $host_local | .cniVersion = \"1.1.0\""
jq 'del(.ipam)' "$WORK/conf" >"$WORK/conf.new"
mv "$WORK/conf.new" "$WORK/conf"
gc held
expect_eq "owed" "$(owed)" ""
expect_eq "addresses" "$(leases)" 0
expect_unchanged "all of it"
