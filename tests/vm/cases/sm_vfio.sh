#!/bin/bash
# A VF on vfio-pci has no port to look at before its virtual machine runs: its pod starts only where all its partitions ask for no proof.
# deadline: 240
. "$ROOT/tests/vm/agent.sh"
. "$ROOT/tests/vm/sm.sh"

vf=$(vf_pci 1 1) guid=02:00:00:00:00:00:02:01
. "$ROOT/tests/vm/vfio.sh"

in_partition() { # PARTITION
  conf "$vf" ".partition = \"$1\" | .vfioPciMode = true | .timeoutSeconds = 8"
}

serve_node "$guid"
sm partition create blue --pkey 0x0001 --membership full --allow default
sm partition create trusting --pkey 0x0002 --membership full --allow default --proof none
start_marking_agent "$by_tls"
new_pod p1
# Told to the PF alone: no port has shown it yet.
at_end clear_guid 1 1 "$name"
at_end take_back
give_to vfio-pci
set_guid 1 1 "$guid"
set_policy 1 1 auto

say "a partition that wants proof"
in_partition blue
call ADD p1
expect_error 11 "*on vfio-pci*partition blue: not verified: no port of the subnet has this GUID*"
del p1
is_state p1 "releasing *" || fail "the binding: $(state_of p1)"
sm partition update blue --proof none
wait_for 30 is_unbound
wait_for 30 has_records ""

say "one that wants none"
in_partition trusting
add p1
expect_log "partition 0x8002 is not verified: a device on vfio-pci has no port on this node"
expect_result '.ibpod.pkeys == {"0x8002": "not verified"}'
expect_match "the binding" "$(state_of p1)" "verified none *"
keep_result
must CHECK p1

say "its virtual machine runs, here for want of one the host's driver: the port is in the partition"
give_to softhca
wait_for 60 has_pkey host "$vf" 0x8002
wait_for 30 is_state p1 "verified port *"

say "and ends: without a port its key needs no proof of removal"
give_to vfio-pci
del p1
wait_for 30 is_unbound
wait_for 30 has_records ""
take_back
wait_for 30 is_active host "$vf"
wait_for 30 lacks_pkey host "$vf" 0x8002
