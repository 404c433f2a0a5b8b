#!/bin/bash
# A pod names its RDMA device "x/y", which no folder of sysfs can show: DEL gives the VF back all the same, before the pod's end and after it.
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
new_pod p1
remember_node
for end in lives is_gone; do
  say "the pod $end"
  conf "$vf" '.guid = "02:00:00:00:00:00:aa:01" | .rdmaIsolation = true'
  add p1
  within p1 rdma dev set "$(rdma_device p1 "$vf")" name x/y
  within p1 ls /sys/class/infiniband && fail "sysfs lists a name with a slash: nothing is shown here"
  if [ "$end" = is_gone ]; then ip netns delete p1; fi
  del p1
  if [ "$end" = is_gone ]; then make_netns p1; fi
  ls /sys/class/infiniband
  expect_unchanged "ADD and DEL"
done
