# The steps of ipoib by hand, and the network that is compared. Sourced after in_vm.sh.
# shellcheck shell=bash disable=SC2034
master=$(pf_netdev 0)

bare_add() { # PKEY
  by_hand ip link add link "$master" name bench type ipoib pkey "$1" umcast 1
  by_hand ip link set bench netns bench name net1
  by_hand ip -n bench link set net1 up
}

bare_del() { by_hand ip -n bench link delete net1; }

plugin=ipoib
conf "$PF0" "del(.deviceID) | .cniVersion = \"1.0.0\" | .master = \"$master\""
echo "ipoib waits until the child has joined its broadcast group (wait); the bare moves do not."
compare "a child in the partition of its master" 0xffff
