#!/bin/bash
# Every version that the plugins claim, by the CNI library that runtimes have: ADD, CHECK, DEL, and from 1.1.0 on STATUS and GC.
# deadline: 400
# machine: cluster
. "$ROOT/tests/vm/ipoib.sh"
. "$ROOT/tests/cluster/versions.sh"
export PATH=$cluster_path:$PATH NETCONFPATH=$WORK/net.d CNI_IFNAME=net1

vf=$(vf_pci 0 0)
set_static_guid 0 0 02:00:00:00:00:00:01:01
blue
new_pod p1
mkdir "$NETCONFPATH"
at_end rm -rf /var/lib/cni
ask() { cnitool "$1" ibnet /run/netns/p1; } # VERB
is_since() { [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; } # VERSION VERSION: the second is as new

# The lease comes of an IPAM plugin that begins with 0.3.1.
network() { # PLUGIN VERSION
  jq -n --arg plugin "$1" --arg version "$2" --arg vf "$vf" --arg pf "$PF0" --arg folder "$WORK/leases" '{cniVersion: $version,
    name: "ibnet", plugins: [{type: $plugin} +
      (if $plugin == "ipoib" then {deviceID: $pf, pkey: "0x8001"} else {deviceID: $vf, rdmaIsolation: true} end) +
      (if $version | IN("0.1.0", "0.2.0", "0.3.0") then {} else {ipam: {type: "lease", $folder}} end)]}' \
    >"$NETCONFPATH/10-ibnet.conflist"
}

claimed() { echo '{"cniVersion": "1.1.0"}' | CNI_COMMAND=VERSION "$1" | jq -r '.supportedVersions[]'; } # PLUGIN
leases() { find "$WORK/leases" -name '*:net1' -printf '%f\n' 2>/dev/null | wc -l; }

# What ADD has made is right, and CHECK sees it, and sees when it is not so any more.
expect_checked() { # VERSION
  if ! is_since 0.4.0 "$1"; then
    expect_refused "*does not support the CHECK command*" ask check
    return
  fi
  ask check
  ip -n p1 address delete 10.9.0.1/24 dev net1
  expect_refused "*10.9.0.1*" ask check
  ip -n p1 address add 10.9.0.1/24 dev net1
  ask check
}

# The library asks STATUS, and tells of GC, from 1.1.0 on; before that it answers by itself.
expect_status() { # VERSION
  mkdir -p "$WORK/leases"
  ask status
  touch "$WORK/leases/broken"
  if is_since 1.1.0 "$1"; then expect_refused "*the address pool is broken*" ask status; else ask status; fi
  rm "$WORK/leases/broken"
}

expect_collected() { # VERSION: a pod that is gone, and that nobody but the plugin remembers
  ask add >"$WORK/result"
  rm -rf /var/lib/cni
  ip netns delete p1
  make_netns p1
  ask gc
  if is_since 1.1.0 "$1"; then return; fi
  expect_eq "records, which GC of $1 does not reach" "$(find /var/lib/ibpod/attachments -name '*.json' | wc -l)" 1
  ask del
}

for plugin in ib-sriov ipoib; do
  for version in $(claimed "$plugin"); do
    say "$plugin $version"
    network "$plugin" "$version"
    rm -rf "$WORK/leases"
    remember_node
    expect_status "$version"
    ask add >"$WORK/result"
    expect_eq "the result's version" "$(jq -r .cniVersion "$WORK/result")" "$version"
    [ -n "$(ip -n p1 -o link show dev net1)" ] || fail "no interface"
    expect_checked "$version"
    ask del
    ask del
    rm -rf /var/lib/cni
    expect_unchanged "ADD and DEL"
    expect_eq "leases" "$(leases)" 0
    expect_collected "$version"
    rm -rf /var/lib/cni
    expect_unchanged "ADD and GC"
    expect_eq "leases after GC" "$(leases)" 0
  done
done
