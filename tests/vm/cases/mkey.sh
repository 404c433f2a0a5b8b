#!/bin/bash
# A port with an M_Key takes Sets only from those who know it, tells the subnet manager of others, and hides as its level says.
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 1 0)
set_static_guid 1 0 02:00:00:00:00:00:02:00
own=$(rdma_device host "$vf") sm=$(rdma_device host "$PF0") way=$(path_to "$vf")
table=$(smp "$own" 0 0x16 0)
before=$(pkeys host "$vf")
key=00c0ffee00c0ffee
portinfo=0x15 pkeytable=0x16

protect() { # LEVEL [KEY]
  local info
  info=$(M_KEY=0x$key smp "$sm" "$way" $portinfo 1)
  info=$(patch "$info" 0 "${2:-$key}")
  M_KEY=0x$key smp "$sm" "$way" $portinfo 1 "$(patch "$info" 34 "$(printf %02x $(($1 << 6)))")" >/dev/null
}
violations() { echo $((0x$(piece "$(M_KEY=0x$key smp "$sm" "$way" $portinfo 1)" 44 2))); }

at_end protect 0 0000000000000000
for level in 0 1 2; do
  say "level $level"
  protect "$level"
  count=$(violations)
  # Neither somebody else nor the root of the node itself.
  expect_no_answer "$sm" "$way" $pkeytable 0 "$(patch "$table" 2 8001)"
  expect_no_answer "$own" 0 $pkeytable 0 "$(patch "$table" 2 8001)"
  M_KEY=0x1 expect_no_answer "$own" 0 $pkeytable 0 "$(patch "$table" 2 8001)"
  expect_eq "P_Keys" "$(pkeys host "$vf")" "$before"
  # Once for each of the three, or more often: the kernel asks a port of its own more than once.
  [ "$(violations)" -ge $((count + 3)) ] || fail "violations: $count before, now $(violations)"
  case $level in
    0) expect_eq "the M_Key for everybody" "$(piece "$(smp "$sm" "$way" $portinfo 1)" 0 8)" $key ;;
    1) expect_eq "the M_Key for strangers" "$(piece "$(smp "$sm" "$way" $portinfo 1)" 0 8)" 0000000000000000 ;;
    2) expect_no_answer "$sm" "$way" $portinfo 1 ;;
  esac
  expect_eq "the M_Key for those who know it" "$(piece "$(M_KEY=0x$key smp "$sm" "$way" $portinfo 1)" 0 8)" $key
done

say "who knows it may"
M_KEY=0x$key smp "$own" 0 $pkeytable 0 "$(patch "$table" 2 8001)" >/dev/null
wait_for 5 has_pkey host "$vf" 0x8001
M_KEY=0x$key smp "$own" 0 $pkeytable 0 "$table" >/dev/null
wait_for 5 lacks_pkey host "$vf" 0x8001

say "trap 256"
(wait_for 10 has_told_since "$vf" 256 0) || fail "no trap 256: $(cat "$debugfs/$vf/traps")"
protect 0 0000000000000000
wait_for 10 trap_answered "$vf" 256

say "OpenSM with an M_Key of its own"
traps=$(sent_by "$vf" 256) heard=$(logged 'num:256 (Bad M_Key)')
printf '%s\n' "m_key 0x$key" "m_key_protection_level 2" "m_key_lease_period 0" >"$WORK/opensm.conf"
unprotected() { # by the OpenSM that ends the case, which remembers the ports' keys
  local pci
  for pci in "$PF0" "$PF1" "$vf"; do smp "$sm" "$(path_to "$pci")" $portinfo 1 || return; done
  smp "$sm" 0,1 $portinfo 0
}
at_end wait_for 30 unprotected
restart_opensm -F "$WORK/opensm.conf"
expect_no_answer "$sm" "$way" $portinfo 1
expect_no_answer "$sm" 0,1 $portinfo 0
expect_no_answer "$own" 0 $pkeytable 0 "$(patch "$table" 2 8001)"
wait_for 10 has_told_since "$vf" 256 "$traps"
wait_for 10 trap_answered "$vf" 256
wait_for 10 is_logged_since 'num:256 (Bad M_Key)' "$heard"
partition blue 0x0001 02:00:00:00:00:00:02:00=full
wait_for 5 has_pkey host "$vf" 0x8001
echo "note: trap 256 (sent, repressed): $(told_by "$vf" 256)"
