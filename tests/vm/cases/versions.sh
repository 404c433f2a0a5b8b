#!/bin/bash
# VERSION, and results as each version of the specification has them.
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
set_static_guid 0 1 02:00:00:00:00:00:01:01
new_pod p1
echo '{"cniVersion": "0.4.0"}' >"$WORK/conf"
must VERSION ""
expect_result '.cniVersion == "0.4.0" and (.supportedVersions | contains(["0.3.1", "0.4.0", "1.0.0", "1.1.0"]))'

remember_node
declare -A holds=(
  [0.3.1]='.ips[0].version == "4" and .ips[1].version == "6" and (.interfaces[0] | has("mtu") | not)'
  [0.4.0]='.ips[0].version == "4" and .ips[1].version == "6" and (.interfaces[0] | has("pciID") | not)'
  [1.0.0]='(.ips[0] | has("version") | not) and (.interfaces[0] | has("mtu") | not)'
  [1.1.0]="(.ips[0] | has(\"version\") | not) and .interfaces[0].mtu > 1000 and .interfaces[0].pciID == \"$vf\""
)
for version in 0.3.1 0.4.0 1.0.0 1.1.0; do
  say "$version"
  conf "$vf" ".cniVersion = \"$version\" | $lease | .ipam.ipv6 = true"
  add p1
  expect_result ".cniVersion == \"$version\""
  expect_result '.ips[0].address == "10.9.0.1/24" and .ips[0].interface == 0'
  expect_result '.interfaces[0] | .name == "net1" and .sandbox == "/run/netns/p1" and (.mac | endswith("02:00:00:00:00:00:01:01"))'
  expect_result "${holds[$version]}"
  del p1
done
expect_unchanged "ADDs and DELs"
