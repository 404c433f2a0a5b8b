#!/bin/bash
# A port with another tenant's key beside its own is not verified; a VF whose last key cannot be seen to leave goes to nobody, until it is clean.
# deadline: 300
. "$ROOT/tests/vm/agent.sh"
. "$ROOT/tests/vm/sm.sh"

vf=$(vf_pci 1 1) guid=02:00:00:00:00:00:02:01
sm_port=$(rdma_device host "$PF0") way=$(path_to "$vf")
key=00c0ffee00c0ffee portinfo=0x15 pkeytable=0x16
set_static_guid 1 1 "$guid"

# A port that can be changed only with the M_Key. Every caller may read its table, and none gets the key (level 1).
lock_port() { protect $key 40; }
unlock_port() { protect 0000000000000000 00; }
protect() { # KEY LEVEL
  local info
  info=$(M_KEY=0x$key smp "$sm_port" "$way" $portinfo 1)
  info=$(patch "$info" 0 "$1")
  M_KEY=0x$key smp "$sm_port" "$way" $portinfo 1 "$(patch "$info" 34 "$2")" >/dev/null
}

serve_node "$guid"
sm partition create blue --pkey 0x0001 --membership full --index0 --ipoib yes --allow default
sm partition create red --pkey 0x0002 --membership full --index0 --ipoib yes --allow default
start_marking_agent "$by_tls"
new_pod p1
new_pod p2
tenant() { # PARTITION [SECONDS]
  conf "$vf" ".cniVersion = \"1.0.0\" | .rdmaIsolation = true | .timeoutSeconds = ${2:-20} | .partition = \"$1\""
}

say "blue's key and red's are in the table, and red's cannot be removed"
# Locked first: else the service, or a sweep that goes on, may take red's away in between.
lock_port
at_end unlock_port
table=$(smp "$sm_port" "$way" $pkeytable 0)
M_KEY=0x$key smp "$sm_port" "$way" $pkeytable 0 "$(patch "$table" 0 800180027fff)" >/dev/null
# OpenSM may not write it, which costs each sweep a second: it takes a few until the table counts as wrong.
tenant blue 15
call ADD p1
expect_error 11 "*partition blue: not verified: *"
expect_match "details" "$(jq -r .details <<<"$out")" "*foreign key*"
unlock_port
del p1
is_clean() { lacks_pkey host "$vf" 0x8001 && lacks_pkey host "$vf" 0x8002; }
wait_for 30 is_clean
tenant blue
add p1
expect_match "P_Keys" "$(pkeys p1 "$vf")" "0:0x8001 ?:0x7fff"

say "the service is away when the pod goes"
end_sm
tenant blue 3
del p1
expect_eq "records" "$(records)" "p1:net1"
tenant red 3
call ADD p2
expect_error 11 "*p1*"
run_sm
wait_for 60 has_records ""
is_clean || fail "the last tenant's key is there: $(pkeys host "$vf")"
tenant red
add p2
expect_match "P_Keys" "$(pkeys p2 "$vf")" "0:0x8002 ?:0x7fff"
del p2
