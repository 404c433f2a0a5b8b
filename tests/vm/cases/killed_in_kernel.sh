#!/bin/bash
# A plugin that is killed while the kernel binds a VF for it, or moves its RDMA device, may leave a port without a MAD agent:
# whoever undoes the rest makes it whole. (What a kill leaves is the kernel's luck; the last part leaves it to none.)
# deadline: 240
# complaint: infiniband softhca_[0-9]+: Couldn't (open port 1|create ib_mad QP0)
. "$ROOT/tests/vm/lib.sh"
. "$ROOT/tests/vm/stepping.sh"

vf=$(vf_pci 0 0)
new_pod p1
set_static_guid 0 0 02:00:00:00:00:00:01:01
remember_node

deaf_ports() { dmesg | grep -c "Couldn't open port 1" || true; }
first=$(deaf_ports)

expect_whole() { # WHAT
  has_mad_agent "$vf" || fail "$1: $(rdma_device host "$vf") has no MAD agent"
  expect_unchanged "$1"
}

kill_inside() { # VERB
  kill_in_kernel "$1" p1
  del p1
  expect_whole "the killed $1 and the DEL after it"
}

say "killed in a bind of an ADD"
conf "$vf" '.rdmaIsolation = true | .guid = "02:00:00:00:00:00:aa:01"'
kill_inside ADD

say "killed in a move of an ADD"
conf "$vf" '.rdmaIsolation = true'
kill_inside ADD

say "killed in a move of a DEL"
add p1
kill_inside DEL

deaf=$(($(deaf_ports) - first))
# A killed process that asks for a kernel thread may get it all the same, and then no interface is missed. Here the port's
# own driver sees to it that there is no MAD agent.
say "nothing shows it"
killed_after() { # STEP: a DEL
  step_through kill-after "$1"
  call DEL p1
  step_freely
}
step=0
add p1
until grep -qs unsettled /var/lib/ibpod/attachments/"$vf"/*.json; do
  step=$((step + 1))
  [ "$step" -lt 100 ] || fail "no step of DEL says in the record that it is about to move"
  killed_after "$step"
done
before=$(deaf_ports)
while [ "$(deaf_ports)" = "$before" ]; do
  step=$((step + 1))
  [ "$step" -lt 100 ] || fail "no step of DEL has moved it"
  del p1
  add p1
  fault . no_qp0 1
  killed_after "$step"
  no_fault . no_qp0
done
expect_match "its interface, at home" "$(netdev host "$vf")" "?*"
! has_mad_agent "$vf" || fail "it has a MAD agent"
del p1
expect_whole "a DEL killed after step $step, and another one"
echo "note: of three killed inside the kernel $deaf left a port without a MAD agent"
