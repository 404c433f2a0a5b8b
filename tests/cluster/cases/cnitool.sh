#!/bin/bash
# Every version that the plugins claim, by the CNI library that runtimes have: ADD, CHECK, DEL, and from 1.1.0 on STATUS and GC; alone, and with agent, SM service and OpenSM.
# deadline: 1000
# machine: cluster
# shellcheck disable=SC2016
. "$ROOT/tests/vm/agent.sh"
. "$ROOT/tests/vm/sm.sh"
. "$ROOT/tests/vm/ipoib.sh"
. "$ROOT/tests/cluster/versions.sh"
export PATH=$cluster_path:$PATH NETCONFPATH=$WORK/net.d CNI_IFNAME=net1

vf=$(vf_pci 0 0) guid=02:00:00:00:00:00:01:01
set_static_guid 0 0 "$guid"
new_pod p1
mkdir "$NETCONFPATH"
at_end rm -rf /var/lib/cni
ask() { cnitool "$1" ibnet /run/netns/p1; } # VERB
is_since() { [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; } # VERSION VERSION: the second is as new

# The lease comes of an IPAM plugin that begins with 0.3.1.
declare -A keys # PLUGIN: a jq object, what its network says beside that
network() { # PLUGIN VERSION
  jq -n --arg plugin "$1" --arg version "$2" --arg vf "$vf" --arg pf "$PF0" --arg folder "$WORK/leases" '{cniVersion: $version,
    name: "ibnet", plugins: [{type: $plugin} + '"${keys[$1]}"' +
      (if $version | IN("0.1.0", "0.2.0", "0.3.0") then {} else {ipam: {type: "lease", $folder}} end)]}' \
    >"$NETCONFPATH/10-ibnet.conflist"
}

claimed() { echo '{"cniVersion": "1.1.0"}' | CNI_COMMAND=VERSION "$1" | jq -r '.supportedVersions[]'; } # PLUGIN
leases() { find "$WORK/leases" -name '*:net1' -printf '%f\n' 2>/dev/null | wc -l; }

# The result of ADD is right, CHECK accepts it, and fails when it is not so any more.
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
  expect_left "$1"
  ask del
}

expect_whole() { # PLUGIN VERSION
  say "$*"
  network "$@"
  rm -rf "$WORK/leases"
  remember_node
  expect_status "$2"
  ask add >"$WORK/result"
  expect_eq "the result's version" "$(jq -r .cniVersion "$WORK/result")" "$2"
  [ -n "$(ip -n p1 -o link show dev net1)" ] || fail "no interface"
  expect_bound verified
  expect_checked "$2"
  ask del
  ask del
  rm -rf /var/lib/cni
  expect_unchanged "ADD and DEL"
  expect_eq "leases" "$(leases)" 0
  expect_collected "$2"
  rm -rf /var/lib/cni
  expect_unchanged "ADD and GC"
  expect_eq "leases after GC" "$(leases)" 0
  expect_bound ""
}

expect_each_version() {
  local plugin version
  for plugin in ib-sriov ipoib; do
    for version in $(claimed "$plugin"); do expect_whole "$plugin" "$version"; done
  done
}

say "alone"
expect_bound() { true; } # STATE, or "" for none
expect_left() { expect_eq "records, which GC of $1 does not reach" "$(find /var/lib/ibpod/attachments -name '*.json' | wc -l)" 1; }
blue
keys=([ib-sriov]='{deviceID: $vf, rdmaIsolation: true}' [ipoib]='{deviceID: $pf, pkey: "0x8001"}')
expect_each_version

say "with agent, SM service and OpenSM"
expect_bound() { expect_eq "bindings" "$(sm --json binding list | jq -r '.[].state' | xargs)" "$1"; }
expect_left() { true; } # the agent may have come first: it sees the VF come home
make_certificates 127.0.0.1
sm_conf "$for_nodes | .nodes.vm.pfs = [\"${pf_guid[0]}\"]" "$guid"
start_sm
sm partition create team --pkey 0x0002 --membership full --index0 --ipoib yes --allow default
sm partition create storage --pkey 0x0003 --membership full --ipoib yes --allow default
start_marking_agent "$by_tls"
export CNI_ARGS="IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=p1"
keys=([ib-sriov]='{deviceID: $vf, rdmaIsolation: true, partition: "team"}' [ipoib]='{deviceID: $pf, partition: "storage"}')
expect_each_version
