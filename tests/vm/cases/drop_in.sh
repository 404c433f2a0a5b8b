#!/bin/bash
# Configurations of ib-sriov-cni, key by key and example by example: what each one comes to. The deliberate differences are
# a table in docs/configuration.md.
# deadline: 360
# shellcheck disable=SC2016
# quick: configurations of ib-sriov-cni mean what they meant
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
own=02:00:00:00:00:00:01:01   # the GUID that the VF has
other=02:00:00:00:00:00:aa:01 # one that is asked for
at_end rm -rf "$WORK/leases"
set_static_guid 0 1 "$own"
new_pod p1
count=0

guid_in_pod() { [[ $(ip -n p1 -br link show net1) == *"$1"* ]]; } # GUID

takes() { # WHAT FILTER [CONDITION...]: ADD and DEL succeed; commands that succeed between them
  local condition
  say "$1"
  count=$((count + 1))
  conf "$vf" "$2"
  add p1
  for condition in "${@:3}"; do eval "$condition" || fail "$1: $condition"; done
  del p1
}

warns() { # WHAT FILTER GLOB
  takes "$1" "$2" "expect_log \"$3\""
}

refuses() { # WHAT FILTER CODE GLOB
  say "$1"
  count=$((count + 1))
  conf "$vf" "$2"
  refuse "$3" "$4" p1
}

remember_node

# --- deviceID
takes "deviceID in upper case, as sysfs never has it" '.deviceID |= ascii_upcase'
takes "deviceID and pciBusID, as Multus adds both" '.pciBusID = .deviceID'
takes "runtimeConfig.deviceID alone" '.runtimeConfig.deviceID = .deviceID | del(.deviceID)'
refuses "no deviceID" 'del(.deviceID)' 7 "deviceID is missing*"
refuses "deviceID \"\"" '.deviceID = ""' 7 "deviceID is missing*"
refuses "a PF" ".deviceID = \"$PF0\"" 7 "*is a physical function*"
refuses "a function that is not there" '.deviceID = "0000:ff:1f.7"' 101 "*no such PCI function*"
refuses "deviceID as a path" '.deviceID = "../../devices/0000:01:00.1"' 7 "deviceID:*"

# --- GUIDs
takes "no GUID asked: the VF's own" . "guid_in_pod $own"
takes "runtimeConfig.infinibandGUID" ".capabilities = {infinibandGUID: true} | .runtimeConfig.infinibandGUID = \"$other\"" "guid_in_pod $other"
takes "args.cni.guid" ".args.cni.guid = \"$other\"" "guid_in_pod $other"
takes "guid, which the peer's README only promises" ".guid = \"$other\"" "guid_in_pod $other"
takes "the capability without a value" '.capabilities = {infinibandGUID: true} | .runtimeConfig = {}' "guid_in_pod $own"
takes "HostIFGUID, the peer's own state, is not believed" ".HostIFGUID = \"$other\"" "guid_in_pod $own" "expect_log HostIFGUID"
refuses "two that differ" ".args.cni.guid = \"$other\" | .runtimeConfig.infinibandGUID = \"$own\"" 7 "args.cni.guid: $other differs*"
refuses "all zeros" '.args.cni.guid = "00:00:00:00:00:00:00:00"' 7 "args.cni.guid:*"
refuses "all ones" '.guid = "ff:ff:ff:ff:ff:ff:ff:ff"' 7 "guid:*"
refuses "a MAC address" '.args.cni.guid = "02:00:00:00:00:01"' 7 "args.cni.guid:*is not a GUID*"

# --- pkey
refuses "pkey that the port's table does not hold; the peer ignores it" '.pkey = "0x8001" | .timeoutSeconds = 2' 11 "timed out waiting for P_Key 0x8001*"
takes "the default partition, which every port is in" '.pkey = "0x7fff"'
takes "pkey \"\", as Spiderpool writes it" '.pkey = ""'
takes "args.cni.pkey, as ib-kubernetes adds it" '.args.cni = {pkey: "0x8001"}'

# --- link_state
for pair in auto:auto enable:enable disable:disable; do
  takes "link_state ${pair%:*}" ".link_state = \"${pair%:*}\"" "[[ \$(told 0 1) == *'link-state ${pair#*:}'* ]]"
done
takes "link_state \"\"" '.link_state = ""'
refuses "link_state up" '.link_state = "up"' 7 "link_state: expected auto, enable or disable*"

# --- rdmaIsolation, ibKubernetesEnabled, vfioPciMode
takes "rdmaIsolation" '.rdmaIsolation = true' '[ -n "$(rdma_device p1 "$vf")" ]'
takes "no rdmaIsolation" '.rdmaIsolation = false' '[ -z "$(rdma_device p1 "$vf")" ]'
warns "a key in another case" '.RDMAIsolation = true' 'RDMAIsolation'
refuses "a key in two spellings" '.RDMAIsolation = true | .rdmaIsolation = false' 7 "*RDMAIsolation*"
refuses "rdmaIsolation as a string" '.rdmaIsolation = "true"' 7 "rdmaIsolation: expected*"
refuses "ibKubernetesEnabled, not configured yet" '.ibKubernetesEnabled = true' 11 "ibKubernetesEnabled:*not configured this pod yet*"
refuses "ibKubernetesEnabled, no GUID" '.ibKubernetesEnabled = true | .args.cni."mellanox.infiniband.app" = "configured"' 11 "ibKubernetesEnabled:*no GUID*"
takes "ibKubernetesEnabled" ".ibKubernetesEnabled = true | .args.cni = {\"mellanox.infiniband.app\": \"configured\", guid: \"$other\"}" "guid_in_pod $other"
refuses "vfioPciMode on a VF that is not on vfio-pci" '.vfioPciMode = true' 7 "vfioPciMode:*"
takes "vfioPciMode false" '.vfioPciMode = false'

# --- ipam, args, cniVersion, names
takes "no ipam" . '[ -z "$(ip -n p1 -4 address show dev net1)" ]' 'expect_result "has(\"ips\") | not"'
takes "ipam {}" '.ipam = {}'
takes "host-local" "$host_local" "expect_result '.ips[0].address | endswith(\"/24\")'"
refuses "dhcp" '.ipam = {type: "dhcp"}' 2 "ipam.type: \"dhcp\" cannot serve InfiniBand*"
takes "any JSON value in args.cni" '.args.cni = {number: 7, list: [1, {"a": null}], flag: true, object: {}}'
takes "cniVersion absent" 'del(.cniVersion)'
takes "cniVersion 0.3.1, as the peer's examples have it" '.cniVersion = "0.3.1"' "expect_result '.cniVersion == \"0.3.1\"'"
say "cniVersion 9.0.0: DEL refuses it too"
conf "$vf" '.cniVersion = "9.0.0"'
for verb in ADD DEL; do
  call "$verb" p1
  expect_error 1 "cniVersion is \"9.0.0\": this plugin supports*"
done
warns "an unknown key" '.colour = "blue"' 'colour'
takes "dns" '.dns = {nameservers: ["10.0.0.53"]}' "expect_result '.dns.nameservers == [\"10.0.0.53\"]'"

# --- ib-kubernetes, as a whole
takes "ib-kubernetes" ".cniVersion = \"0.3.1\" | .link_state = \"enable\" | .ibKubernetesEnabled = true | .capabilities = {infinibandGUID: true} |
  .runtimeConfig.infinibandGUID = \"$other\" | .args.cni = {guid: \"$other\", \"mellanox.infiniband.app\": \"configured\", pkey: \"0x8001\"} | $host_local" "guid_in_pod $other"
expect_unchanged "all of it"

# --- the examples as they are published (tests/data/examples): only the device and host-local's folder of leases are
# replaced. From a list the runtime gives the plugin its own part with the list's name and version.
examples=$ROOT/tests/data/examples
at_end rm -rf /run/spiderpool
partition five "0x0005, indx0" "$own=full" # the peer's examples are of a fabric with partition 5
wait_for 10 has_pkey host "$vf" 0x8005
remember_node
routed='[[ $(ip -n p1 route get 192.0.2.1) == *"via 10.56.217.1 dev net1"* ]]'
verified='expect_log "partition 0x0005 is verified"'
for example in "$examples"/*.json; do
  example=$(basename "$example" .json)
  published="$(<"$examples/$example.json") | (if .plugins then .plugins[0] + {name, cniVersion} else . end) | .deviceID = \"$vf\" |
    if .ipam.type == \"host-local\" then .ipam.dataDir = \"$WORK/leases\" else . end"
  case $example in
    ib-sriov-cni-readme) takes "$example" "$published" "$routed" '[ -n "$(rdma_device p1 "$vf")" ]' \
      'expect_result ".ips[0].address == \"10.56.217.171/24\""' ;;
    ib-sriov-cni-crd | ib-kubernetes-crd) takes "$example" "$published" "$routed" "$verified" ;;
    network-operator-pkey) refuses "$example" "$published" 11 "ibKubernetesEnabled:*not configured this pod yet*" ;;
    spiderpool-ippools) takes "$example" "$published" '[ -n "$(rdma_device p1 "$vf")" ]' \
      'expect_result ".ips[0].address == \"10.9.0.1/24\""' ;;
    spiderpool-pkey) refuses "$example" "$published" 7 'pkey: "1000" is ambiguous: write "0x1000" for hexadecimal or "0x03e8" for decimal' ;;
    *) fail "no expected result for $example" ;;
  esac
done

expect_unchanged "the examples"
echo "$count configurations"
