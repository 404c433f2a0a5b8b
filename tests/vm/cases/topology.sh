#!/bin/bash
# All ports are ACTIVE within 10 s of OpenSM's start, and the tools of infiniband-diags show the fabric that is modelled.
# deadline: 240
. "$ROOT/tests/vm/lib.sh"

set_static_guid 0 1 02:00:00:00:00:00:01:01
set_static_guid 1 1 02:00:00:00:00:00:02:01
# So the tables are to be; OpenSM's own port is a full member of the default partition, and the others are limited ones.
declare -A want_pkeys=([$PF0]=0xffff [$PF1]=0x7fff [$(vf_pci 0 1)]="0x7fff 0x8001" [$(vf_pci 1 1)]="0x7fff 0x0001")
partition blue 0x0001 02:00:00:00:00:00:01:01=full 02:00:00:00:00:00:02:01=limited
functions=("$PF0" "$PF1" "$(vf_pci 0 1)" "$(vf_pci 1 1)")
switch_guid=0x0014050000000001
sm=$(rdma_device host "$PF0") # whose port sees all others; a limited member does not see the other limited ones

say "from nothing to ACTIVE"
at_end plain_opensm
stop_opensm
for pci in "${functions[@]}"; do
  echo 1 >"$debugfs/$pci/down"
  echo 0 >"$debugfs/$pci/down"
done
for pci in "${functions[@]}"; do expect_eq "$pci" "$(port_state host "$pci")" "2: INIT"; done
all_active() {
  local pci
  for pci in "${functions[@]}"; do [[ $(ibstat "$(rdma_device host "$pci")" 1) == *"State: Active"* ]] || return; done
}
before=$(sweeps)
begin=$(milliseconds)
launch_opensm
wait_for 10 all_active
echo "note: ACTIVE after $(($(milliseconds) - begin)) ms" >"$WORK/note"
wait_for 20 has_swept_since "$before" # until its first sweep is over OpenSM answers no query (saquery)

# An attribute of a function's port in sysfs, as the tools print it.
port() { cat "/sys/class/infiniband/$(rdma_device host "$1")/ports/1/$2"; }
lid() { echo $(($(port "$1" lid))); }
guid() { echo "0x$(port_guid host "$1" | tr -d :)"; }
switch_lid() { ibswitches -C "$sm" | sed -n 's/.* lid \([0-9]*\) .*/\1/p'; }
describe() { cat "/sys/class/infiniband/$(rdma_device host "$1")/node_desc"; }

say "ibnetdiscover"
for pci in "${functions[@]}"; do
  echo "CA $(lid "$pci") 1 $(guid "$pci") 4x - SW $(switch_port "$pci") $switch_guid"
done | sort >"$WORK/want"
ibnetdiscover -C "$sm" -p >"$WORK/links" 2>"$WORK/complaints"
awk '$1 == "CA" {print $1, $2, $3, $4, $5, "-", $8, $10, $11}' "$WORK/links" | sort >"$WORK/got"
diff "$WORK/want" "$WORK/got" || { cat "$WORK/links"; fail "ibnetdiscover shows other links"; }
expect_eq "complaints of ibnetdiscover" "$(cat "$WORK/complaints")" ""

say "smpquery pkeys"
for pci in "${functions[@]}"; do
  shown=$(smpquery -C "$sm" pkeys "$(lid "$pci")" | sed -n 's/^ *[0-9]*: *//p' | xargs -n 1 | grep -v 0x0000 | xargs)
  expect_eq "P_Keys of $pci" "$shown" "${want_pkeys[$pci]}"
  expect_eq "P_Keys of $pci in sysfs" "$(pkeys host "$pci" | sed 's/[0-9]*://g')" "$shown"
done

say "sminfo"
expect_match "sminfo" "$(sminfo -C "$sm")" \
  "sminfo: sm lid $(lid "$PF0") sm guid 0x$(guid "$PF0" | sed 's/^0x0*//'), activity count * priority 0 state 3 SMINFO_MASTER"
for pci in "${functions[@]}"; do expect_eq "SM of $pci" "$(($(port "$pci" sm_lid)))" "$(lid "$PF0")"; done

say "saquery"
for pci in "${functions[@]}"; do
  echo "$(lid "$pci") Channel 1 $(guid "$pci") 0x80 $(describe "$pci")"
done | sort >"$WORK/want"
saquery -C "$sm" NodeRecord | awk -F'\\.\\.+' '
  /lid\.\./ {lid = $2} /node_type/ {type = $2} /num_ports/ {ports = $2} / port_guid|\tport_guid/ {guid = $2}
  /partition_cap/ {cap = $2} /NodeDescription/ {print lid, type, ports, guid, cap, $2}' >"$WORK/records"
grep Channel "$WORK/records" | sed 's/Channel Adapter/Channel/' | sort >"$WORK/got"
diff "$WORK/want" "$WORK/got" || { saquery -C "$sm" NodeRecord; fail "saquery shows other nodes"; }
expect_eq "the switch" "$(grep -v Channel "$WORK/records")" \
  "$(switch_lid) Switch 72 $switch_guid 0x20 softhca virtual switch"
cat "$WORK/note"
