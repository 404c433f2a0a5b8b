#!/bin/bash
# ipoib: a child that its pod has hidden in another namespace is no child that is gone: DEL finds it, or fails until it can.
# deadline: 240
# kernels: 6.1 7
. "$ROOT/tests/vm/ipoib.sh"
. "$ROOT/tests/vm/hidden.sh"

blue
for pod in p1 p2; do new_pod "$pod"; done
child_conf p1 0 ".cniVersion = \"1.0.0\" | $lease"
attach p2 0
cp "$WORK/p1/conf" "$WORK/conf"
remember_node

# As CAP_NET_ADMIN in the pod allows: another name, another index, no alias, an address, and it goes on talking.
take_child() {
  ip -n p1 link set net1 alias ""
  ip -n p1 link set net1 down
  ip -n p1 link set net1 netns "$hider" name eth0 index 77
  hidden ip address add 10.9.0.1/24 dev eth0
  hidden ip link set eth0 up
  wait_for 20 hidden ping -c 1 -w 3 10.9.0.2
  reaches p2 10.9.0.1
}

say "in a process's namespace: DEL removes it"
add p1
hide
take_child
del p1
expect_unreached p2 10.9.0.1
if hidden ping -c 1 -w 3 10.9.0.2 >/dev/null 2>&1; then fail "the child still reaches the partition after DEL"; fi
expect_empty
end_hider
expect_unchanged "ADD, hiding, DEL"

say "the pod's namespace has died first: GC removes it"
add p1
hide
take_child
ip netns delete p1
cp "$WORK/conf" "$WORK/conf.kept"
jq '.cniVersion = "1.1.0" | del(.ipam)' "$WORK/conf.kept" >"$WORK/conf"
gc p2
cp "$WORK/conf.kept" "$WORK/conf"
expect_empty
end_hider
make_netns p1
del p1
expect_unchanged "ADD, hiding, the end of the pod, GC"

# A mount that another one covers is in no list of paths that could be opened, and no process is in the namespace.
say "where nothing leads to: DEL fails, record and address stay"
add p1
hide
take_child
mkdir -p "$WORK/cover/in"
touch "$WORK/cover/in/netns"
mount --bind "/proc/$hider/ns/net" "$WORK/cover/in/netns"
mount -t tmpfs cover "$WORK/cover"
uncover() { ! mountpoint -q "$WORK/cover" || umount "$WORK/cover"; }
unhold() { uncover; ! mountpoint -q "$WORK/cover/in/netns" || umount "$WORK/cover/in/netns"; }
at_end unhold
end_hider
call DEL p1
expect_error 11 "*the IPoIB child of $(pf_netdev 0) in the partition 0x8001 is still there, in an unreachable network namespace*"
expect_eq "the record's stage" "$(jq .attachment.stage /var/lib/ibpod/attachments/ibpod*/p1:net1.json)" 1
[ -e "$WORK/leases/p1:net1" ] || fail "the hidden child's address has been given back"

say "… until it is found"
uncover
del p1
unhold
expect_unchanged "ADD, hiding, DELs"

say "… or comes home"
add p1
hide
take_child
mount --bind "/proc/$hider/ns/net" "$WORK/cover/in/netns"
mount -t tmpfs cover "$WORK/cover"
end_hider
aside slow call DEL p1
slow=$!
sleep 1 # DEL looks for it by now
umount "$WORK/cover"
umount "$WORK/cover/in/netns"
wait "$slow" || true
del p1
expect_unchanged "ADD, hiding, its end, DEL"

say "the pod removes its own child: DEL does not wait"
add p1
ip -n p1 link delete net1
del p1
expect_unchanged "ADD, its removal, DEL"

say "a child of ours without a record, and one of the administrator's"
ip link add link "$(pf_netdev 0)" name ibadmin type ipoib pkey 0x8001
at_end ip link delete ibadmin
remember_node
ip link add link "$(pf_netdev 0)" name stray index 20000000 type ipoib pkey 0x8001
jq '.cniVersion = "1.1.0" | del(.ipam)' "$WORK/conf.kept" >"$WORK/conf"
gc p2 p1
expect_unchanged "GC"
detach p2
