#!/bin/bash
# With the disk full, what a dead pod left is ended all the same, or as soon as there is room: nothing is lost on the way.
# deadline: 300
. "$ROOT/tests/vm/agent.sh"

# A disk of its own for the records, small enough to fill.
state=/var/lib/ibpod
mkdir -p "$state"
mount -t tmpfs -o size=256k,mode=0700 tmpfs "$state"
at_end umount "$state"
fill() { dd if=/dev/zero of="$state/full" bs=1k 2>/dev/null || true; }

vf=$(vf_pci 0 0)
set_static_guid 0 0 02:00:00:00:00:00:0a:00
new_pod dead
new_pod alive
conf "$vf" ".guid = \"02:00:00:00:00:00:bb:01\" | .rdmaIsolation = true | $lease"
add dead
conf "$(vf_pci 0 1)" ".guid = \"02:00:00:00:00:00:bb:02\" | .rdmaIsolation = true | $lease"
add alive
before=$(ip -n alive -d address show net1)
fill
expect_refused "*No space left*" cp /bin/bash "$state/more"

say "nothing can be written, and the namespace dies"
ip netns delete dead
agent_conf .
start_agent
wait_for 90 has_records alive:net1
wait_for 10 test ! -e "$state/attachments/$vf" # its folder goes after the record
expect_eq "its GUID is the VF's own again" "$(port_guid host "$vf")" 0200:0000:0000:0a00
wait_for 30 has_leases alive:net1
expect_eq "alive's interface" "$(ip -n alive -d address show net1)" "$before"

say "an ADD is refused before it changes anything"
make_netns dead
conf "$vf" ".guid = \"02:00:00:00:00:00:bb:01\" | .rdmaIsolation = true | $lease"
fill
refuse 5 "*No space left*" dead

rm "$state/full"
end_agent TERM
conf "$(vf_pci 0 1)" ".rdmaIsolation = true | $lease"
del alive
