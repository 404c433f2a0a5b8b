#!/bin/bash
# A network for ib-kubernetes is bound by the agent, in both spellings of its P_Key; a GUID or a "configured" that a pod's author wrote is refused.
# deadline: 240
. "$ROOT/tests/vm/agent.sh"
. "$ROOT/tests/vm/sm.sh"

vf=$(vf_pci 0 1) other=$(vf_pci 1 1)
guid=02:00:00:00:00:00:01:01 others=02:00:00:00:00:00:02:01
set_static_guid 0 1 "$guid"
set_static_guid 1 1 "$others"
serve_node "$guid" "$others"
sm partition create blue --pkey 0x0001 --membership limited --index0 --ipoib yes --allow default
sm partition create red --pkey 0x0002 --membership full --index0 --ipoib yes --allow another
start_marking_agent "$by_tls"
new_pod p1
new_pod p2

network() { # PCI KEYS: as networks for ib-kubernetes are written
  conf "$1" ".cniVersion = \"1.0.0\" | .rdmaIsolation = true | .ibKubernetesEnabled = true |
    .capabilities = {infinibandGUID: true} | .timeoutSeconds = 20 | $2"
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
expect_match "full" "$(jq -r .msg <<<"$out")" "*membership full is not to be had here*"
network "$other" '.pkey = "0x8002"'
call ADD p2
expect_match "red" "$(jq -r .msg <<<"$out")" "*there is no partition 0x0002 that pods of namespace default may be in*"

say "what a pod's author writes"
for key in .guid .args.cni.guid .runtimeConfig.infinibandGUID; do
  network "$other" ".pkey = \"0x1\" | $key = \"$guid\""
  refuse 7 "${key#.}: $guid: *none can be chosen" p2
done
network "$other" '.pkey = "0x1" | .args.cni = {"mellanox.infiniband.app": "configured"}'
refuse 7 '*"configured" means nothing here*' p2
expect_eq "records" "$(records)" "p1:net1"
expect_eq "bindings" "$(sm --json binding list | jq length)" 1

network "$vf" '.pkey = "0x1"'
del p1
wait_for 20 lacks_pkey host "$vf" 0x0001
expect_eq "records" "$(records)" ""
