#!/bin/bash
# Ports that OpenSM has protected by an M_Key: ibpod-sm, who knows it, reads them, and says which level does not hide them.
# deadline: 240
. "$ROOT/tests/vm/sm.sh"

vf=$(vf_pci 1 0) guid=02:00:00:00:00:00:02:00
set_static_guid 1 0 "$guid"
sm=$(rdma_device host "$PF0") way=$(path_to "$vf")
key=00c0ffee00c0ffee
portinfo=0x15
(umask 077; echo "0x$key" >"$WORK/m_key")

restart_sm() { # [FILTER]: with another OpenSM
  end_sm
  end_opensm
  sm_conf "$1" "$guid"
  run_sm
  wait_for 60 serves
}
with_key() { echo ".opensm.mKeyFile = \"$WORK/m_key\" | .opensm.mKeyProtection = $1"; } # LEVEL
m_key_shown() { piece "$(smp "$sm" "$way" $portinfo 1)" 0 8; }

say "level 1"
sm_conf "$(with_key 1)" "$guid"
start_sm
at_end forget_keys "$key" "$vf" "$PF0" "$PF1"
at_end end_opensm
at_end end_sm
sm partition create blue --pkey 0x0001 --membership full --allow default
expect_match "the binding" "$(ask_bind p1 "$guid" 30 blue)" "verified port leaf none: "
expect_eq "the M_Key for strangers" "$(m_key_shown)" 0000000000000000
expect_eq "the M_Key for those who know it" "$(M_KEY=0x$key m_key_shown)" $key
wait_for 10 finds "^fabric: M_Key protection: .* level 1"

say "level 2"
expect_match "the binding" "$(ask_unbind p1 30)" "released *"
restart_sm "$(with_key 2)"
expect_match "the binding" "$(ask_bind p1 "$guid" 30 blue)" "verified port leaf none: "
expect_no_answer "$sm" "$way" $portinfo 1
wait_for 10 finds_nothing "^fabric: M_Key protection"
