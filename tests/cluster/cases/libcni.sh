#!/bin/bash
# The CNI library that runtimes have, by its cnitool: STATUS, ADD, CHECK, DEL and GC of a list with ib-sriov.
# machine: cluster
. "$ROOT/tests/vm/lib.sh"
. "$ROOT/tests/cluster/versions.sh"
export PATH=$cluster_path:$PATH NETCONFPATH=$WORK/net.d CNI_IFNAME=net1

vf=$(vf_pci 0 0)
set_static_guid 0 0 02:00:00:00:00:00:01:01
new_pod p1
mkdir "$NETCONFPATH"
jq -n --arg vf "$vf" '{cniVersion: "1.1.0", name: "ibnet", plugins: [
  {type: "ib-sriov", deviceID: $vf, rdmaIsolation: true}]}' >"$NETCONFPATH/10-ibnet.conflist"
at_end rm -rf /var/lib/cni
ask() { cnitool "$1" ibnet /run/netns/p1; } # VERB
remember_node

ask status
ask add >"$WORK/result"
expect_eq "the interface" "$(jq -r '.interfaces[0].name' "$WORK/result")" net1
expect_eq "the pod's interface" "$(netdev p1 "$vf")" net1
ask check
ask del
ask del
rm -rf /var/lib/cni
expect_unchanged "ADD and DEL"

say "GC knows of no attachment: the library calls DEL for those that it remembers"
ask add >"$WORK/result"
ask gc
rm -rf /var/lib/cni
expect_unchanged "ADD and GC"

say "of one that it has forgotten the plugin's records know: it stays while its pod lives"
ask add >"$WORK/result"
rm -rf /var/lib/cni
ask gc
expect_eq "the living pod's interface" "$(netdev p1 "$vf")" net1
ip netns delete p1
make_netns p1
ask gc
expect_unchanged "ADD and GC without the library's memory"
