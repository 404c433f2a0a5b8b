#!/bin/bash
# A network for ib-kubernetes is bound by the agent, in both spellings of its P_Key; a GUID that a pod's author wrote is refused, but where its namespace may choose it; so is a "configured".
# deadline: 300
. "$ROOT/tests/vm/agent.sh"
. "$ROOT/tests/vm/sm.sh"

vf=$(vf_pci 0 1) other=$(vf_pci 1 1)
guid=02:00:00:00:00:00:01:01 others=02:00:00:00:00:00:02:01
set_static_guid 0 1 "$guid"
set_static_guid 1 1 "$others"
make_certificates 127.0.0.1
choices='[{first: "0x0200000000000a01", last: "0x0200000000000aff", chosenBy: ["default"]},
  {first: "0x0200000000000b01", last: "0x0200000000000bff", chosenBy: ["another"]}]'
sm_conf "$for_nodes | .guids = $choices" "$guid" "$others"
start_sm
sm partition create blue --pkey 0x0001 --membership limited --index0 --ipoib yes --allow default
sm partition create red --pkey 0x0002 --membership full --index0 --ipoib yes --allow another
start_marking_agent "$by_tls"
new_pod p1
new_pod p2

network() { # PCI KEYS: as networks for ib-kubernetes are written
  conf "$1" ".cniVersion = \"1.0.0\" | .rdmaIsolation = true | .ibKubernetesEnabled = true |
    .capabilities = {infinibandGUID: true} | .timeoutSeconds = 20 | $2"
}
expect_guid() { # POD PCI GUID
  expect_eq "the GUID of $2 in $1" "$(port_guid "$1" "$2")" "$(sed -E 's/(..):(..)/\1\2/g' <<<"$3")"
}

say "bound by its P_Key, without ib-kubernetes"
network "$vf" '.pkey = "0x1"'
add p1
expect_log "partition 0x0001 is verified: 0x0001, limited member, at index 0"
expect_match "P_Keys" "$(pkeys p1 "$vf")" "0:0x0001*"
keep_result
must CHECK p1
expect_eq "the agent's word" "$(ctl --json attachments | jq -r '.[].pkey')" 0x0001

say "full membership, and a partition of another namespace"
network "$other" '.pkey = "0x8001"'
call ADD p2
expect_match "full" "$(jq -r .msg <<<"$out")" "*membership full is not allowed*"
network "$other" '.pkey = "0x8002"'
call ADD p2
expect_match "red" "$(jq -r .msg <<<"$out")" "*there is no partition 0x0002 that pods of namespace default may be in*"

say "what a pod's author writes"
for key in .guid .args.cni.guid .runtimeConfig.infinibandGUID; do
  network "$other" "$key = \"$guid\""
  refuse 7 "${key#.}: $guid: *a network can request one only together with partition or pkey" p2
  for chosen in "$guid" 02:00:00:00:00:00:0b:01; do
    network "$other" ".pkey = \"0x1\" | $key = \"$chosen\""
    refuse 103 "*GUID $chosen cannot be requested by pods of namespace default*" p2
  done
done
network "$other" '.pkey = "0x1" | .args.cni = {"mellanox.infiniband.app": "configured"}'
refuse 7 '*"configured" is not supported on this node*' p2
expect_eq "records" "$(records)" "p1:net1"
expect_eq "bindings" "$(sm --json binding list | jq length)" 1

say "a permitted choice: no other pod has it meanwhile, and the VF gets its own back"
chosen=02:00:00:00:00:00:0a:07
network "$other" ".pkey = \"0x1\" | .args.cni = {guid: \"$chosen\", \"mellanox.infiniband.app\": \"configured\"}"
add p2
expect_guid p2 "$other" "$chosen"
expect_match "P_Keys" "$(pkeys p2 "$other")" "0:0x0001*"
expect_eq "its binding" "$(sm --json binding get vm p2 net1 | jq -r '"\(.guid) \(.state)"')" "$chosen verified"
network "$vf" '.pkey = "0x1"'
del p1
network "$vf" ".pkey = \"0x1\" | .guid = \"$chosen\" | .timeoutSeconds = 4"
call ADD p1
expect_error 11 "*port $chosen is bound to*"
expect_guid host "$vf" "$guid"
network "$other" '.pkey = "0x1"'
del p2
expect_guid host "$other" "$others"
network "$vf" ".pkey = \"0x1\" | .guid = \"$chosen\""
add p1
expect_guid p1 "$vf" "$chosen"

del p1
wait_for 20 lacks_pkey host "$vf" 0x0001
wait_for 20 has_records ""
