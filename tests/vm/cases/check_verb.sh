#!/bin/bash
# CHECK: ok, and 106 for each thing that is not as ADD made it.
# quick: CHECK finds what is no more as ADD made it
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 1 1)
set_static_guid 1 1 02:00:00:00:00:00:02:01
partition blue "0x0001, indx0" 02:00:00:00:00:00:02:01=full
wait_for 10 has_pkey host "$vf" 0x8001
new_pod p1
conf "$vf" ".rdmaIsolation = true | .mtu = 1500 | .pkey = \"0x8001\" | $lease"
remember_node
add p1
keep_result
must CHECK p1
expect_eq "output" "$out" ""

differs() { # GLOB COMMAND... -- COMMAND...: breaks something, and mends it
  local glob=$1 break=()
  shift
  while [ "$1" != -- ]; do
    break+=("$1")
    shift
  done
  say "${break[*]}"
  "${break[@]}"
  call CHECK p1
  expect_error 106 "$glob"
  "${@:2}"
}
ipn() { ip -n p1 "$@"; }
rename() { # FROM TO
  ip -n p1 link set "$1" down
  ip -n p1 link set "$1" name "$2"
  ip -n p1 link set "$2" up
}
differs "*has MTU 1600 instead of 1500" ipn link set net1 mtu 1600 -- ipn link set net1 mtu 1500
differs "*does not have the address 10.9.0.1/24" ipn address del 10.9.0.1/24 dev net1 -- ipn address add 10.9.0.1/24 dev net1
differs "*is called other instead of net1" rename net1 other -- rename other net1
differs "net1 is down" ipn link set net1 down -- ipn link set net1 up
must CHECK p1
partition blue "0x0001, indx0" 02:00:00:00:00:00:02:02=full
wait_for 10 lacks_pkey p1 "$vf" 0x8001
call CHECK p1
expect_error 106 "P_Key 0x8001 is missing*"
partition blue "0x0001, indx0" 02:00:00:00:00:00:02:01=full
wait_for 10 has_pkey p1 "$vf" 0x8001
# Its interface takes the key a moment later.
passes_check() { call CHECK "$1" && [ "$rc" = 0 ]; } # POD
wait_for 10 passes_check p1

say "the IPAM plugin's own"
mv "$WORK/leases/p1:net1" "$WORK/lease"
call CHECK p1
expect_error 11 "ipam lease: no lease of p1*"
mv "$WORK/lease" "$WORK/leases/p1:net1"

say "the RDMA device has gone home"
ip netns exec p1 rdma dev set "$(rdma_device p1 "$vf")" netns ../../proc/1/ns/net
call CHECK p1
expect_error 106 "the interface of $vf is not in the pod"

say "no such attachment"
del p1
call CHECK p1
expect_error 106 "there is no record of this attachment*"
expect_unchanged "ADD and DEL"
