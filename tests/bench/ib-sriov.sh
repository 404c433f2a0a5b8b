# The steps of ib-sriov by hand, and the networks that are compared. Sourced after in_vm.sh.
# shellcheck shell=bash
vf=$(vf_pci 0 0)
pf=$(pf_netdev 0)
own_guid=02:00:00:00:00:00:01:01

driver() { # unbind|bind
  local begin=${EPOCHREALTIME/./}
  echo "$vf" >"/sys/bus/pci/drivers/softhca/$1"
  bare=$((bare + ${EPOCHREALTIME/./} - begin))
}

tell_guid() { # GUID
  by_hand ip link set "$pf" vf 0 node_guid "$1"
  by_hand ip link set "$pf" vf 0 port_guid "$1"
}

bare_add() { # ISOLATION GUID: true or false, and another GUID or nothing
  local net
  home=$(netdev host "$vf")
  if [ -n "$2" ]; then
    driver unbind
    tell_guid "$2"
    driver bind
  fi
  if [ "$1" = true ]; then by_hand rdma dev set "$(rdma_device host "$vf")" netns bench; fi
  # Up to 6.16 the interface is on the host now, later it is in the pod.
  net=$(netdev host "$vf")
  if [ -n "$net" ]; then
    by_hand ip link set "$net" netns bench name net1
  else
    by_hand ip -n bench link set "$(netdev bench "$vf")" name net1
  fi
  by_hand ip -n bench link set net1 up
}

# The same ways home that ours takes: unbinding fetches the devices, too.
bare_del() { # ISOLATION GUID
  if [ -n "$2" ]; then
    driver unbind
    tell_guid "$own_guid"
    driver bind
  elif [ "$1" = true ]; then
    by_hand nsenter --net=/run/netns/bench rdma dev set "$(rdma_device bench "$vf")" netns ../../proc/1/ns/net
  else
    by_hand ip -n bench link set net1 netns 1 name "$home"
  fi
  expect_eq "the interface is back" "$(netdev host "$vf")" "$home"
}

compare_vf() { # TITLE ISOLATION [GUID]
  local guid=${3:-} filter=".cniVersion = \"1.0.0\" | .rdmaIsolation = $2"
  if [ -n "$guid" ]; then filter+=" | .args.cni.guid = \"$guid\""; fi
  conf "$vf" "$filter"
  compare "$1" "$2" "$guid"
}

set_static_guid 0 0 "$own_guid"
compare_vf "isolation, the VF's own GUID" true
compare_vf "isolation, another GUID (rebind)" true 02:00:00:00:00:00:aa:01
compare_vf "no isolation, the VF's own GUID" false
