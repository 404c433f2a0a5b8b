#!/bin/bash
# Pods on IPoIB children name partitions: the PF's port is brought in for the first, stays for the others, and leaves with the last. Its own interface stays where it is, and a pod with a VF is in the same partition.
# deadline: 500
. "$ROOT/tests/vm/agent.sh"
. "$ROOT/tests/vm/sm.sh"
. "$ROOT/tests/vm/ipoib.sh"

declare -A pf=([p1]=0 [p2]=1 [p3]=1 [p4]=1)
attach_to() { attach "$1" "${pf[$1]}" "$(named "$2")"; } # POD PARTITION
named() { echo "del(.pkey) | .partition = \"$1\""; }
bound() { sm --json binding list | jq -r '[.[] | .containerID] | sort | join(" ")'; }
are_bound() { [ "$(bound)" = "$1" ]; } # "POD..."

keeps_index0() { [[ $(pkeys host "$1") == 0:0x?fff* ]]; } # PF: the default key is there

vf=$(vf_pci 1 1) guid=02:00:00:00:00:00:02:01
set_static_guid 1 1 "$guid"
make_certificates 127.0.0.1
sm_conf "$for_nodes" "$guid"
start_sm
sm partition create blue --pkey 0x0001 --membership full --index0 --ipoib yes --allow default
sm partition create red --pkey 0x0002 --membership full --ipoib yes --allow default
start_marking_agent "$by_tls"
for pod in p1 p2 p3 p4 p5; do new_pod "$pod"; done

say "a PF without an owner"
child_conf p1 0 "$(named blue)"
cp "$WORK/p1/conf" "$WORK/conf"
call ADD p1
expect_error 103 "*is not known as a PF of node vm*"
del p1

say "the node's PFs"
end_sm
jq --arg one "${pf_guid[0]}" --arg other "${pf_guid[1]}" '.nodes.vm.pfs = [$one, $other]' "$WORK/sm.json" >"$WORK/sm.new"
mv "$WORK/sm.new" "$WORK/sm.json"
run_sm
wait_for 60 serves
attach_to p1 blue
attach_to p2 blue
attach_to p3 red
attach_to p4 blue
are_bound "p1 p2 p3 p4" || fail "bound: $(bound)"
expect_eq "states" "$(sm --json binding list | jq -r '[.[].state] | unique | join(" ")')" verified
expect_match "the child's key" "$(ip -n p3 -d link show net1)" "* pkey 0x8002 *"
reaches p2 10.9.0.1
reaches p4 10.9.0.1
reaches p4 10.9.0.2
for pod in p1 p2 p4; do expect_unreached p3 "10.9.0.${pod#p}"; done
for pod in p1 p2 p3 p4; do
  cp "$WORK/$pod/conf" "$WORK/conf"
  must CHECK "$pod"
done

say "the interfaces of the PFs are not in it, though it asks for index 0; a VF in it takes that"
for pf_address in "$PF0" "$PF1"; do
  keeps_index0 "$pf_address" || fail "index 0 of $pf_address: $(pkeys host "$pf_address")"
  expect_match "$(netdev host "$pf_address")" "$(ip -d link show "$(netdev host "$pf_address")")" "* pkey 0xffff *"
done
plugin=ib-sriov
conf "$vf" '.partition = "blue" | .cniVersion = "1.0.0" | .rdmaIsolation = true |
  .ipam = {type: "static", addresses: [{address: "10.9.0.5/24"}]}'
cp "$WORK/conf" "$WORK/vf.conf"
add p5
first_pkey_is p5 "$vf" 0x8001 || fail "P_Keys of p5: $(pkeys p5 "$vf")"
reaches p5 10.9.0.1
reaches p2 10.9.0.5
expect_unreached p3 10.9.0.5
cp "$WORK/vf.conf" "$WORK/conf"
del p5
# shellcheck disable=SC2034 # for lib.sh
plugin=ipoib
for pf_address in "$PF0" "$PF1"; do keeps_index0 "$pf_address" || fail "index 0 of $pf_address: $(pkeys host "$pf_address")"; done

say "a write by hand puts the children's key at the index that the PF's own interface uses"
block() { smp "$(rdma_device host "$PF0")" "$(path_to "$PF1")" 0x16 0 "$@"; }
place=$(pkeys host "$PF1" | tr ' ' '\n' | sed -n 's/:0x8001$//p')
own=$(piece "$(block)" 0 2)
swapped=$(patch "$(patch "$(block)" $((2 * place)) "$own")" 0 8001)
expect_eq "the port's answer" "$(block "$swapped")" "$swapped"
wait_for 60 keeps_index0 "$PF1"
# A written binding is counted a moment later, when the service has read the table again.
metrics() { curl -sf --unix-socket "$WORK/metrics.sock" http://sm/metrics; }
has_written_once() { [[ $(metrics) == *'ibpod_sm_repairs_total{result="written"} 1'* ]]; }
wait_for 20 has_written_once
has_pkey host "$PF1" 0x8001 || fail "blue's key is gone: $(pkeys host "$PF1")"
reaches p4 10.9.0.1

say "the key goes with the last one that needs it"
detach p2
has_pkey host "$PF1" 0x8001 || fail "p4's key has gone: $(pkeys host "$PF1")"
reaches p4 10.9.0.1
detach p4
lacks_pkey host "$PF1" 0x8001 || fail "blue's key is still there: $(pkeys host "$PF1")"
has_pkey host "$PF1" 0x8002 || fail "p3's key has gone: $(pkeys host "$PF1")"

say "the service is away at a DEL"
end_sm
detach p3
expect_eq "children on the host" "$(children)" ""
expect_match "still recorded" "$(records)" "*p3:net1*"
run_sm
wait_for 60 are_bound p1
wait_for 20 lacks_pkey host "$PF1" 0x8002
attach_to p3 blue
reaches p3 10.9.0.1
detach p3 p1
is_unbound || fail "bound: $(bound)"
expect_eq "records" "$(records)" ""
