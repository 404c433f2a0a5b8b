#!/bin/bash
# Several VFs in one pod, through one network and through two: each in its partition, from the pod's annotation to the port; all given back, though the networks are gone.
# deadline: 400
# machine: default cluster
# quick: each of a pod's VFs is in its partition
. "$ROOT/tests/vm/agent.sh"
. "$ROOT/tests/vm/sm.sh"
. "$ROOT/tests/vm/multus.sh"

vfs=("$(vf_pci 0 1)" "$(vf_pci 0 2)") other_rail=$(vf_pci 1 1) neighbour=$(vf_pci 1 2)
guids=(02:00:00:00:00:00:01:01 02:00:00:00:00:00:01:02 02:00:00:00:00:00:02:01 02:00:00:00:00:00:02:02)
set_static_guid 0 1 "${guids[0]}"
set_static_guid 0 2 "${guids[1]}"
set_static_guid 1 1 "${guids[2]}"
set_static_guid 1 2 "${guids[3]}"

bindings() { sm --json binding list | jq -r '[.[] | "\(.containerID):\(.ifname) \(.state)"] | sort | join(", ")'; }
address() { ip -n "$1" -o -4 address show dev "$2" | awk '{sub("/.*", "", $4); print $4}'; } # POD INTERFACE
reaches() { within "$1" ping -q -c 1 -W 2 "$2" >/dev/null; }                                # POD ADDRESS
info_of() { jq -r "$3" "$device_info/cni/default-$1_$2"; }                                   # NETWORK-POD INTERFACE FILTER

expect_attached() { # POD INTERFACE VF TABLE
  expect_eq "the interface of $3" "$(netdev "$1" "$3")" "$2"
  expect_match "the P_Keys of $3" "$(pkeys "$1" "$3")" "$4 ?:0x7fff"
  [ -n "$(rdma_device "$1" "$3")" ] || fail "$1 has no RDMA device of $3"
}
# The cluster's network has taken lo down with it.
expect_nothing_left() { # WHAT
  for pod in p1 p2; do ip -n "$pod" link set lo up; done
  expect_eq "records after $1" "$(records)" ""
  expect_eq "bindings after $1" "$(bindings)" ""
  expect_eq "device-info files after $1" "$(ls "$device_info/cni")" ""
  expect_unchanged "$1"
}

serve_node "${guids[@]}"
sm partition create blue --pkey 0x0001 --membership full --index0 --ipoib yes --allow default
sm partition create red --pkey 0x0002 --membership full --index0 --ipoib yes --allow default
sm partition create green --pkey 0x0003 --membership full --index0 --ipoib yes --allow another
start_marking_agent "$by_tls"
install_multus
network blue ib/rail_0 7 '.partition = "blue"'
network blue-too ib/rail_1 7 '.partition = "blue" | .ipam.rangeStart = "10.7.0.100"'
network red ib/rail_1 8 '.partition = "red"'
network chosen ib/rail_1 9 '.capabilities.infinibandGUID = true'
new_pod p1
new_pod p2
remember_node

say "one VF, if no device plugin has written for Multus and the folder does not exist"
[ ! -e "$device_info" ] || fail "$device_info is there"
pod p2 blue-too
give p2 ib/rail_1 "$neighbour"
multus_must ADD p2
expect_attached p2 net1 "$neighbour" "0:0x8001"
expect_eq "its binding" "$(sm --json binding get vm p2 net1 | jq -r '"\(.state) \(.proof) \(.pod.namespace)/\(.pod.name)"')" \
  "verified port default/p2"
expect_eq "its device-info file" "$(info_of blue-too-p2 net1 '.pci | "\(."pci-address") \(.pkey)"')" "$neighbour 0x8001"
# Multus leaves out what it does not know: the P_Key.
expect_eq "the status in the pod" "$(network_status p2 net1 '"\(.name) \(.ips[0]) \(.mac[-23:]) \(."device-info".pci | tojson)"')" \
  "default/blue-too $(address p2 net1) ${guids[3]} $(jq -cn --arg pci "$neighbour" --arg rdma "$(rdma_device p2 "$neighbour")" \
    '{"pci-address": $pci, "rdma-device": $rdma}')"

say "two VFs through one network"
pod p1 blue,blue
give p1 ib/rail_0 "${vfs[1]}" "${vfs[0]}"
multus_must ADD p1
expect_attached p1 net1 "${vfs[0]}" "0:0x8001"
expect_attached p1 net2 "${vfs[1]}" "0:0x8001"
expect_eq "bindings" "$(bindings)" "p1:net1 verified, p1:net2 verified, p2:net1 verified"
for interface in net1 net2; do wait_for 10 reaches p2 "$(address p1 "$interface")"; done

say "networks and pod are deleted, then DEL comes"
mv "$(network_file blue)" "$WORK/blue"
rm "$(pod_file p1)"
take_all p1
multus_must DEL p1
expect_eq "records" "$(records)" "p2:net1"
for vf in "${vfs[@]}"; do
  expect_match "P_Keys of $vf" "$(pkeys host "$vf")" "0:0x7fff"
done
multus_must DEL p1
mv "$WORK/blue" "$(network_file blue)"

say "two VFs through two networks, on two rails and in two partitions"
pod p1 '[{"name": "blue", "interface": "rail0"}, {"name": "red", "interface": "rail1"}]'
give p1 ib/rail_0 "${vfs[0]}"
give p1 ib/rail_1 "$other_rail"
multus_must ADD p1
expect_attached p1 rail0 "${vfs[0]}" "0:0x8001"
expect_attached p1 rail1 "$other_rail" "0:0x8002"
wait_for 10 reaches p2 "$(address p1 rail0)"
multus_must CHECK p1
multus_must DEL p1
expect_eq "bindings" "$(bindings)" "p2:net1 verified"

say "what a pod's author writes: a partition where the network names none, as far as the partition allows it"
pod p1 '[{"name": "chosen", "cni-args": {"partition": "red"}}]'
multus_must ADD p1
expect_attached p1 net1 "$other_rail" "0:0x8002"
multus_must DEL p1
refuses() { # GLOB NETWORKS...: these come after a network that is attached, and has to be given back
  local networks
  for networks in "${@:2}"; do
    pod p1 "[{\"name\": \"blue\"}, $networks]"
    multus ADD p1
    [ "$rc" != 0 ] || fail "it was not refused: $networks"
    expect_match "$networks" "$(jq -r .msg <<<"$out")" "$1"
    multus_must DEL p1
    expect_eq "records after $networks" "$(records)" "p2:net1"
    expect_eq "bindings after $networks" "$(bindings)" "p2:net1 verified"
  done
}
refuses "*there is no partition green that pods of namespace default may be in*" \
  '{"name": "chosen", "cni-args": {"partition": "green"}}'
refuses "*args.cni.partition: the network has another partition*" '{"name": "red", "cni-args": {"partition": "blue"}}'
refuses "*cannot be requested by pods of namespace default*" "{\"name\": \"chosen\", \"cni-args\": {\"partition\": \"red\", \"guid\": \"${guids[3]}\"}}" \
  "{\"name\": \"chosen\", \"infiniband-guid\": \"${guids[3]}\", \"cni-args\": {\"partition\": \"red\"}}"

multus_must DEL p2
expect_nothing_left "all of it"
