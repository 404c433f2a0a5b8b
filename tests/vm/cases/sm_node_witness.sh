#!/bin/bash
# A port that shows nobody its P_Keys: a binding is verified by what its node sees, not before, and not by what is wrong.
# deadline: 240
# quick: a port that hides its table is verified by its node's reading, and not before
. "$ROOT/tests/vm/sm.sh"

vf=$(vf_pci 1 0) guid=02:00:00:00:00:00:02:00
set_static_guid 1 0 "$guid"
device=$(rdma_device host "$vf")
sm_conf . "$guid"
start_sm
sm partition create blue --pkey 0x0001 --membership full --allow default

# Copies the table in sysfs, with another key in place of the partition's.
forge() { # KEY IN-ITS-PLACE
  local folder=class/infiniband/$device/ports/1/pkeys
  rm -rf "$WORK/sysfs"
  mkdir -p "$WORK/sysfs/$folder"
  cp "/sys/$folder"/* "$WORK/sysfs/$folder/"
  sed -i "s/$1/$2/" "$WORK/sysfs/$folder"/*
}

bind_unseen() { # KIND REASON: the binding of p1, which is not verified in 5 s
  fault "$vf" hide_pkeys "$1"
  expect_match "the answer" "$(ask_bind p1 "$guid" 5 blue)" "@(requested|written) none unknown *"
  wait_for 20 is_state p1 "written none unknown $2: *"
  wait_for 20 has_pkey host "$vf" 0x8001
}

# A wrong table counts when it is seen after a sweep, which may not be over when the key is on the port.
shown() { observe host "$vf" "$guid" "$WORK/sysfs" && is_state p1 "$1"; } # GLOB: what is forged makes the binding so

say "refused"
bind_unseen 2 refused

say "what the node sees is wrong"
forge 0x8001 0x0000
wait_for 20 shown "written none unknown missing key: *"
forge 0x8001 0x0001
wait_for 20 shown "written none unknown foreign key: *"

say "and right: the caller that waits is answered"
ask_bind p1 "$guid" 30 blue >"$WORK/bound" &
waiting=$!
observe host "$vf" "$guid"
wait "$waiting"
expect_match "the binding" "$(cat "$WORK/bound")" "verified node unknown none: "

say "unbound"
expect_match "the binding" "$(ask_unbind p1 5)" "releasing *"
wait_for 20 lacks_pkey host "$vf" 0x8001
forge 0x7fff 0x8001
observe host "$vf" "$guid" "$WORK/sysfs"
expect_match "the binding" "$(state_of p1)" "releasing *"
observe host "$vf" "$guid"
expect_match "the binding" "$(ask_unbind p1 10)" "released *"

say "silent"
bind_unseen 1 timeout
observe host "$vf" "$guid"
wait_for 10 is_state p1 "verified node unknown none: "

say "the port itself goes before its node"
no_fault "$vf" hide_pkeys
wait_for 20 is_state p1 "verified port leaf none: "
