#!/bin/bash
# A pod names its RDMA device "x/y", which no folder of sysfs can show: DEL gives the VF back all the same, before the pod's end and after it, also where
# another pod has taken the name that the device would get.
# deadline: 240
# kernels: 6.1 7
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1) other=$(vf_pci 0 0)
new_pod p1
new_pod p2
remember_node
for name in free taken; do
  for end in lives is_gone; do
    say "the pod $end, the name is $name"
    conf "$vf" '.guid = "02:00:00:00:00:00:aa:01" | .rdmaIsolation = true'
    add p1
    device=$(rdma_device p1 "$vf")
    if [ "$name" = taken ]; then
      index=$(within p1 rdma dev show "$device" | cut -d: -f1)
      conf "$other" '.guid = "02:00:00:00:00:00:aa:02" | .rdmaIsolation = true'
      add p2
      within p2 rdma dev set "$(rdma_device p2 "$other")" name "rdma$index"
      conf "$vf" '.guid = "02:00:00:00:00:00:aa:01" | .rdmaIsolation = true'
    fi
    within p1 rdma dev set "$device" name x/y
    within p1 ls /sys/class/infiniband && fail "sysfs lists a name with a slash: nothing is shown here"
    if [ "$end" = is_gone ]; then ip netns delete p1; fi
    del p1
    if [ "$end" = is_gone ]; then make_netns p1; fi
    if [ "$name" = taken ]; then
      conf "$other" '.guid = "02:00:00:00:00:00:aa:02" | .rdmaIsolation = true'
      del p2
    fi
    ls /sys/class/infiniband
    expect_unchanged "ADD and DEL"
  done
done
