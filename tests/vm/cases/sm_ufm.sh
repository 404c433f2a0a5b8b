#!/bin/bash
# With UFM as the subnet manager (a stand-in, before a real OpenSM) a pod is in its partition when ADD ends; what others change in UFM is undone; while UFM is away no pod gets in, and a VF waits.
# deadline: 700
. "$ROOT/tests/vm/agent.sh"
. "$ROOT/tests/vm/ufm.sh"
. "$ROOT/tests/vm/probers.sh"

declare -A vf=([p1]=$(vf_pci 0 1) [p2]=$(vf_pci 1 1) [p3]=$(vf_pci 1 2)) address=([p1]=10.7.0.1 [p2]=10.7.0.2 [p3]=10.7.0.3)
declare -A guid=([p1]=02:00:00:00:00:00:01:01 [p2]=02:00:00:00:00:00:02:01 [p3]=02:00:00:00:00:00:02:02)
set_static_guid 0 1 "${guid[p1]}"
set_static_guid 1 1 "${guid[p2]}"
set_static_guid 1 2 "${guid[p3]}"

names_partition() { # POD PARTITION [FILTER]
  conf_of "$1" "${vf[$1]}" ".partition = \"$2\" | .cniVersion = \"1.0.0\" | .rdmaIsolation = true |
    .ipam = {type: \"static\", addresses: [{address: \"${address[$1]}/24\"}]} | ${3:-.}"
  cp "$WORK/$1/conf" "$WORK/conf"
}
table() { pkeys "$1" "${vf[$2]}"; }                                # POD|host POD
has_first() { [[ $(table "$1" "$1") == "0:$2"* ]]; }               # POD PKEY
binding_of() { sm --json binding get vm "$1" net1 | jq -r "$2"; }  # POD FILTER
is_in_state() { [ "$(binding_of "$1" .state)" = "$2" ]; }          # POD STATE
says() { [[ $(doctor) == *"$1"* ]]; }                              # TEXT

make_certificates 127.0.0.1
start_ufm
# Another client's partition, outside of ibpod-sm's range.
as_another post 0x1234 02:00:00:00:00:00:99:99
serve_with_ufm . "${guid[@]}"
sm partition create blue --pkey 0x0001 --membership full --index0 --ipoib yes --allow default
sm partition create red --pkey 0x0002 --membership full --index0 --ipoib yes --allow default
sm partition create green --pkey 0x0003 --membership limited --index0 --ipoib yes --allow default
start_marking_agent "$by_tls"
for pod in p1 p2 p3; do new_pod "$pod"; done

say "two pods of a partition, and one of another"
for pod in p1 p2; do
  names_partition "$pod" blue
  add "$pod"
  expect_log "partition 0x8001 is verified: 0x8001, full member, at index 0"
  expect_match "P_Keys of $pod" "$(table "$pod" "$pod")" "0:0x8001*"
  expect_eq "UFM's member" "$(stored 0x1 "${guid[$pod]}")" full
  start_prober "$pod" blue "${address[$pod]}"
done
names_partition p3 red
add p3
expect_eq "the pod" "$(binding_of p3 '"\(.state) \(.proof) \(.pod.namespace)/\(.pod.name)"')" "verified port default/p3"
start_prober p3 red "${address[p3]}"
for pod in p1 p2 p3; do wait_for 30 has_spoken "$pod"; done

say "the VF of a pod that has gone, for the other partition"
stop_prober p3
del p3
lacks_pkey host "${vf[p3]}" 0x8002 || fail "its key is still there: $(table host p3)"
wait_for 30 is_stored 0x2 "${guid[p3]}" none
names_partition p3 blue
add p3
expect_match "P_Keys of p3" "$(table p3 p3)" "0:0x8001*"
del p3

say "another administrator removes a member: it is added again"
as_another remove_guids 0x1 "${guid[p2]}"
wait_for 60 is_stored 0x1 "${guid[p2]}" full
wait_for 60 has_first p2 0x8001
wait_for 60 is_in_state p2 verified

say "a limited member that is made full does not stay so"
names_partition p3 green
add p3
expect_match "P_Keys of p3" "$(table p3 p3)" "0:0x0003*"
before=$(sm_metric ibpod_sm_ufm_widened_total)
as_another post 0x3 "${guid[p3]}" full
wait_for 60 is_stored 0x3 "${guid[p3]}" limited
[ "$(sm_metric ibpod_sm_ufm_widened_total)" -gt "$before" ] || fail "ibpod-sm does not count the full member"
wait_for 60 has_first p3 0x0003
wait_for 60 is_in_state p3 verified
del p3
wait_for 30 is_stored 0x3 "${guid[p3]}" none

say "UFM is away: running pods keep their keys, and no pod gets in"
ufm_serves false
wait_for 60 says "UFM does not answer"
names_partition p3 red '.timeoutSeconds = 4'
call ADD p3
expect_error 11 "*partition red: not verified*"
del p3
expect_match "P_Keys of p1" "$(table p1 p1)" "0:0x8001*"
say "and a pod that ends keeps its VF from the next one"
stop_prober p2
names_partition p2 blue
del p2
expect_match "still recorded" "$(records)" "*p2:net1*"
ufm_serves true
wait_for 90 has_records "p1:net1"
lacks_pkey host "${vf[p2]}" 0x8001 || fail "its key is still there: $(table host p2)"
expect_eq "UFM's member" "$(stored 0x1 "${guid[p2]}")" none

say "all is given back, and nothing outside of the range was touched"
stop_prober p1
expect_none_wrong
expect_heard p1 p2 20
names_partition p1 blue
del p1
wait_for 60 has_records ""
wait_for 60 is_unbound
expect_eq "what ibpod-sm has changed" "$(written_pkeys)" "0x1 0x2 0x3"
expect_match "a request that names a P_Key of ours" "$(requests_naming 0x1)" "*/*" # it would tell one of the other's
expect_eq "requests that name the other client's P_Key" "$(requests_naming 0x1234)" ""
expect_eq "the other client's partition" "$(stored 0x1234 02:00:00:00:00:00:99:99)" full
