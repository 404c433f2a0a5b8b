#!/bin/bash
# A pod may be in several partitions, a limited member here and a full one there, or both; the first is at index 0, where IPoIB looks.
# deadline: 400
. "$ROOT/tests/vm/agent.sh"
. "$ROOT/tests/vm/sm.sh"
. "$ROOT/tests/vm/probers.sh"

declare -A vf=([p1]=$(vf_pci 0 1) [p2]=$(vf_pci 1 1) [p3]=$(vf_pci 1 2))
guids=(02:00:00:00:00:00:01:01 02:00:00:00:00:00:02:01 02:00:00:00:00:00:02:02)
set_static_guid 0 1 "${guids[0]}"
set_static_guid 1 1 "${guids[1]}"
set_static_guid 1 2 "${guids[2]}"

in_partitions() { # POD PARTITIONS [FILTER]
  conf_of "$1" "${vf[$1]}" ".partitions = $2 | .cniVersion = \"1.0.0\" | .rdmaIsolation = true | ${3:-.}"
  cp "$WORK/$1/conf" "$WORK/conf"
}
with_address() { echo ".ipam = {type: \"static\", addresses: [{address: \"10.7.0.${1#p}/24\"}]}"; } # POD
reaches() { within "$1" ping -q -c 1 -W 2 "10.7.0.${2#p}" >/dev/null; }                       # POD POD
is_apart() { ! reaches "$@"; }
expect_keys() { # POD KEY...: and no others, but that of the default partition
  local now
  now=$(pkeys "$1" "${vf[$1]}" | tr ' ' '\n' | cut -d: -f2 | grep -v 0x7fff | sort | xargs)
  expect_eq "P_Keys of $1" "$now" "${*:2}"
}
# True if packets came from the other pod, with any P_Key of both.
has_heard() { # POD FROM ud|rc
  local right
  read -r right _ <<<"$(heard "$@")"
  [ "$right" -gt 0 ]
}
join() { # POD
  add "$1"
  keep_result
  cp "$WORK/conf" "$WORK/$1/conf"
}
leave() { # POD...
  local pod
  for pod; do
    cp "$WORK/$pod/conf" "$WORK/conf"
    must CHECK "$pod"
    del "$pod"
    expect_keys_gone "$pod"
  done
}
expect_keys_gone() { expect_match "P_Keys left of $1" "$(pkeys host "${vf[$1]}")" "0:0x7fff"; }

serve_node "${guids[@]}"
start_marking_agent "$by_tls"
for pod in p1 p2 p3; do new_pod "$pod"; done

say "several partitions"
sm partition create blue --pkey 0x0001 --membership full --index0 --ipoib yes --allow default
sm partition create red --pkey 0x0002 --membership full --index0 --ipoib yes --allow default
sm partition create storage --pkey 0x0003 --membership full --ipoib no --allow default
in_partitions p1 '["blue", {name: "storage", membership: "limited"}]' "$(with_address p1)"
join p1
expect_log "partition 0x8001 is verified: 0x8001, full member, at index 0"
expect_log "partition 0x0003 is verified: 0x0003, limited member"
in_partitions p2 '[{name: "storage", membership: "limited"}, "red"]' "$(with_address p2) | .timeoutSeconds = 5"
call ADD p2
expect_error 11 "*index 0*"
del p2
in_partitions p2 '["red", {name: "storage", membership: "limited"}]' "$(with_address p2)"
join p2
in_partitions p3 '["storage"]'
join p3
expect_keys p1 0x0003 0x8001
expect_keys p2 0x0003 0x8002
expect_keys p3 0x8003
first_pkey_is p1 "${vf[p1]}" 0x8001 || fail "p1 has $(pkeys p1 "${vf[p1]}")"

say "each of the first two reaches the storage, and not the other"
start_prober p1 blue,first 10.7.0.1
start_prober p2 red,second 10.7.0.2
start_prober p3 first,second
for pod in p1 p2 p3; do wait_for 60 has_spoken "$pod"; done
for pod in p1 p2 p3; do stop_prober "$pod"; done
expect_none_wrong
for pod in p1 p2; do
  for way in ud rc; do
    has_heard "$pod" p3 "$way" || fail "$pod has heard nothing of p3 by $way"
    has_heard p3 "$pod" "$way" || fail "p3 has heard nothing of $pod by $way"
  done
done
is_apart p1 p2 || fail "p1 reaches p2"
leave p1 p2 p3

say "both a limited and a full member"
for name in blue red storage; do sm partition delete "$name"; done
end_sm
jq '.opensm.allowBothPkeys = true' "$WORK/sm.json" >"$WORK/sm.new"
mv "$WORK/sm.new" "$WORK/sm.json"
run_sm
wait_for 60 serves
sm partition create grey --pkey 0x0004 --membership both --index0 --ipoib yes --allow default
for pod in p1 p2; do
  in_partitions "$pod" '["grey"]' "$(with_address "$pod")"
  join "$pod"
  expect_log "partition 0x8004 is verified: 0x8004, full member, at index"
  expect_keys "$pod" 0x0004 0x8004
  first_pkey_is "$pod" "${vf[$pod]}" 0x0004 || fail "$pod has $(pkeys "$pod" "${vf[$pod]}")"
done
in_partitions p3 '[{name: "grey", membership: "limited"}]' "$(with_address p3)"
join p3
expect_keys p3 0x0004
wait_for 20 reaches p1 p2
wait_for 20 reaches p1 p3
wait_for 20 reaches p3 p2
leave p1 p2 p3
