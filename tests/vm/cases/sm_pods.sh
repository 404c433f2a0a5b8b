#!/bin/bash
# A pod names a partition and is in it, verified, when ADD ends; its VF goes clean to the next tenant; without the SM service nobody gets in.
# deadline: 700
# quick: a pod names a partition and is in it, verified, when ADD ends
. "$ROOT/tests/vm/agent.sh"
. "$ROOT/tests/vm/sm.sh"

declare -A vf=([p1]=$(vf_pci 0 1) [p2]=$(vf_pci 1 1) [p3]=$(vf_pci 1 2)) address=([p1]=10.7.0.1 [p2]=10.7.0.2 [p3]=10.7.0.3)
# The last one as tools draw them that do not mind the bit of a group.
guids=(02:00:00:00:00:00:01:01 02:00:00:00:00:00:02:01 59:ca:bb:00:97:92:74:5f)
set_static_guid 0 1 "${guids[0]}"
set_static_guid 1 1 "${guids[1]}"
set_static_guid 1 2 "${guids[2]}"

names_partition() { # POD PARTITION [FILTER]
  conf_of "$1" "${vf[$1]}" ".partition = \"$2\" | .cniVersion = \"1.0.0\" | .rdmaIsolation = true |
    .ipam = {type: \"static\", addresses: [{address: \"${address[$1]}/24\"}]} | ${3:-.}"
  cp "$WORK/$1/conf" "$WORK/conf"
}
reaches() { within "$1" ping -q -c 1 -W 2 "${address[$2]}" >/dev/null; } # POD POD
is_apart() { ! reaches "$@"; }
binding_of() { sm --json binding get vm "$1" net1 | jq -r "$2"; }         # POD FILTER
agent_says() { [[ $(ctl --json doctor || true) == *"$1"* ]]; }            # WORD

serve_node "${guids[@]}"
sm partition create blue --pkey 0x0001 --membership full --index0 --ipoib yes --allow default
sm partition create red --pkey 0x0002 --membership full --index0 --ipoib yes --allow default
sm partition create green --pkey 0x0003 --membership full --index0 --ipoib yes --allow another
start_marking_agent "$by_tls"
for pod in p1 p2 p3; do new_pod "$pod"; done

say "two tenants"
for pod in p1 p2; do
  names_partition "$pod" blue
  add "$pod"
  expect_log "partition 0x8001 is verified: 0x8001, full member, at index 0"
  expect_result 'has("ibpod") | not'
  expect_match "P_Keys of $pod" "$(pkeys "$pod" "${vf[$pod]}")" "0:0x8001*"
  keep_result
  must CHECK "$pod"
done
names_partition p3 red
add p3
expect_eq "the pod" "$(binding_of p3 '"\(.state) \(.proof) \(.pod.namespace)/\(.pod.name)"')" "verified port default/p3"
wait_for 10 reaches p1 p2
is_apart p1 p3 || fail "p1 reaches another tenant"

say "the VF of a pod that has gone, for the other tenant"
del p3
expect_match "left of red" "$(pkeys host "${vf[p3]}")" "0:0x7fff*"
lacks_pkey host "${vf[p3]}" 0x8002 || fail "its key is still there: $(pkeys host "${vf[p3]}")"
names_partition p3 blue
add p3
wait_for 10 reaches p1 p3
del p3

say "a partition of another namespace, and one that is not there"
for partition in green nowhere; do
  names_partition p3 "$partition"
  call ADD p3
  expect_match "$partition" "$(jq -r .msg <<<"$out")" "*$partition*namespace default*"
  del p3
done
expect_eq "records" "$(records)" "p1:net1 p2:net1"

say "a pod that ended without a DEL"
names_partition p3 red
add p3
delete_pod p3
conf "${vf[p3]}" # the IPAM plugin knows no GC
gc p1 p2
expect_eq "records" "$(records)" "p1:net1 p2:net1"
expect_eq "bound" "$(sm --json binding list | jq -r '[.[].containerID] | sort | join(" ")')" "p1 p2"
lacks_pkey host "${vf[p3]}" 0x8002 || fail "its key is still there: $(pkeys host "${vf[p3]}")"
make_netns p3

say "the agent is killed, and starts again"
conf "${vf[p3]}" # STATUS came with 1.1.0
must STATUS p3
end_agent KILL
call STATUS p3
expect_error 50 "*agent*"
for filter in . 'del(.partition) | .pkey = "0x8001"' 'del(.partition)'; do
  names_partition p3 blue "$filter | .timeoutSeconds = 2"
  call ADD p3
  expect_error 11 "*agent*"
done
start_agent
del p3
names_partition p3 blue
add p3
del p3

say "the SM service is away"
end_sm
names_partition p3 blue '.timeoutSeconds = 3'
call ADD p3
expect_error 11 "*partition blue: not verified*"
names_partition p2 blue
del p2
expect_match "still recorded" "$(records)" "p1:net1 p2:net1*"
wait_for 60 agent_says sm-service
end_agent KILL
start_agent
expect_match "still recorded, for an agent that knows it from the record alone" "$(records)" "p1:net1 p2:net1*"
run_sm
wait_for 60 has_records "p1:net1"
names_partition p2 red
add p2
expect_match "P_Keys of p2" "$(pkeys p2 "${vf[p2]}")" "0:0x8002*"
is_apart p1 p2 || fail "p1 reaches another tenant"
del p2
names_partition p1 blue
del p1
wait_for 20 is_unbound
wait_for 20 has_records ""
