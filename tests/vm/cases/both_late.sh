#!/bin/bash
# A port whose full key comes after the limited one of the same partition: when ADD ends, its interface uses the full one.
# deadline: 200
. "$ROOT/tests/vm/lib.sh"

declare -A vf=([p1]=$(vf_pci 0 1) [p2]=$(vf_pci 1 1)) address=([p1]=10.7.0.1 [p2]=10.7.0.2)
guids=(02:00:00:00:00:00:01:01 02:00:00:00:00:00:02:01)
set_static_guid 0 1 "${guids[0]}"
set_static_guid 1 1 "${guids[1]}"
echo 'allow_both_pkeys TRUE' >"$WORK/opensm.conf"
restart_opensm -F "$WORK/opensm.conf"
members() { partition grey "0x0004, indx0" "${guids[0]}=$1" "${guids[1]}=$1"; } # limited|both
is_up() { ip -n "$1" -d link show net1 | grep -q "[<,]UP[,>]"; }

pids=()
members limited
for pod in p1 p2; do
  new_pod "$pod"
  conf_of "$pod" "${vf[$pod]}" ".pkey = \"0x8004\" | .cniVersion = \"1.0.0\" | .timeoutSeconds = 60 |
    .ipam = {type: \"static\", addresses: [{address: \"${address[$pod]}/24\"}]}"
  aside "$pod" add "$pod"
  pids+=($!)
done
for pod in p1 p2; do
  wait_for 20 is_up "$pod"
  wait_for 10 first_pkey_is host "${vf[$pod]}" 0x0004
done
members both
for pid in "${pids[@]}"; do wait "$pid" || fail "an ADD"; done
for pod in p1 p2; do expect_match "P_Keys of $pod" "$(pkeys host "${vf[$pod]}")" "0:0x0004 *:0x8004*"; done

# Two that are limited do not reach each other.
reaches() { ip netns exec p1 ping -q -c 1 -W 2 "${address[p2]}"; }
wait_for 20 reaches
for pod in p1 p2; do
  cp "$WORK/$pod/conf" "$WORK/conf"
  del "$pod"
done
