#!/bin/bash
# ibpod-sm and its OpenSM: what the port shows and what the node sees agree, traffic follows, and an Unbind takes the key away.
# deadline: 300
. "$ROOT/tests/vm/programs.sh"
. "$ROOT/tests/vm/sm.sh"

number_vfs p1=0.1 p2=1.1 p3=1.2
# With both keys allowed, full members would have no IPoIB (docs/opensm-notes.md#full-members-without-ipoib).
sm_conf '.opensm.allowBothPkeys = false' "${guid[@]}"
start_sm
sm partition create blue --pkey 0x0001 --membership full --index0 --ipoib yes --allow default
sm partition create red --pkey 0x0002 --membership full --index0 --ipoib yes --allow default

say "the port"
for pod in p1=blue p2=blue p3=red; do
  expect_match "$pod" "$(ask_bind "${pod%=*}" "${guid[${pod%=*}]}" 30 "${pod#*=}")" "verified port leaf none: "
done
for pod in p1=0x8001 p2=0x8001 p3=0x8002; do
  expect_match "P_Keys of $pod" "$(pkeys host "${vf[${pod%=*}]}")" "0:${pod#*=} *:0x7fff"
done

say "the node"
for pod in p1 p2 p3; do
  expect_eq "what $pod's node sees" "$(observe host "${vf[$pod]}" "${guid[$pod]}")" "$(pkeys host "${vf[$pod]}")"
  expect_match "$pod" "$(state_of "$pod")" "verified port leaf none: "
done

say "IPoIB"
for pod in p1 p2 p3; do new_pod "$pod"; done
attach_pod p1 0x8001
attach_pod p2 0x8001
attach_pod p3 0x8002
expect_talk p2 ping
expect_silence p3 ping

say "unbound"
expect_match "p2" "$(ask_unbind p2 30)" "released *"
lacks_pkey p2 "${vf[p2]}" 0x8001 || fail "p2 still has $(pkeys p2 "${vf[p2]}")"
expect_silence p2 ping
detach_pods p1 p2 p3
