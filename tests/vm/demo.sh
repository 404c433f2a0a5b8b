# The story that ./demo tells; runs in the test VM, its output goes to the person's terminal.
# shellcheck shell=bash disable=SC2016,SC2154
set -eEuo pipefail
mkdir -p "${WORK:=/run/demo}"
. "$ROOT/tests/vm/sm.sh"
. "$ROOT/tests/vm/story.sh"
. "$ROOT/tests/vm/time_line.sh"
. "$ROOT/tests/vm/two_nodes.sh"
unset -f jq # what is shown is what a person gets who types it
trap 'give_up "line $LINENO: $BASH_COMMAND"' ERR
cd "$WORK"
export IBPOD_SM=unix:$WORK/sm.sock
pf=$(rdma_device host "$PF0")
of_blue="0:0x8001 1:0x7fff" of_red="0:0x8002 1:0x7fff" # the P_Key table of a port in one partition, beside the default one

echo "A virtual machine on kernel $(uname -r). Its two InfiniBand adapters and their switch are software; IPoIB, OpenSM and ibpod are the real ones."
clear_stage

tell "1. A subnet. ibpod-sm starts OpenSM and keeps the partitions; here it looks at all P_Key tables every 2 s."
make_certificates 127.0.0.1 node-a node-b 2>openssl.log
sm_conf "$for_nodes"' | .pkeys = [{first: "0x0001", last: "0x00ff"}] | .logLevel = "debug" | del(.nodes) |
  .guids = [{first: "0x0200000000000001", last: "0x02000000000000ff"}]'
run jq -c '{pkeys, guids, look, roles}' sm.json
typed "ibpod-sm --config sm.json &"
start_sm
run_line "ibpodctl doctor --fabric-only --all | head -n 1"
run sminfo -C "$pf"
run ibhosts -C "$pf"

tell "2. Two nodes join, one at each adapter (PF). Their agents make VFs, with GUIDs of the service's pool before a driver sees them."
for node in node-a node-b; do node_conf "$node"; done
run jq -c '{pfs, fabrics}' node-a.json
for node in node-a node-b; do
  typed "ibpod-agent --config $node.json --node $node &"
  start_node "$node"
done
for node in node-a node-b; do
  wait_for 60 devices_of "$node"
  claim "$node has two VFs whose ports are ACTIVE" has_vfs "$node"
  run_line "ibpodctl --socket $node/agent.sock devices | grep -E 'DEVICE|ib_vf'"
done
run ibpodctl node list

tell "3. Two partitions, for two teams that are not to reach each other."
run ibpodctl partition create blue --allow team-blue --membership full --index0 --ipoib yes
run ibpodctl partition create red --allow team-red --membership full --index0 --ipoib yes
claim "OpenSM has swept with both" are_ready 2
run ibpodctl partition list

tell "4. Three pods. The container runtime calls the plugin; ADD ends when the port's own P_Key table is right."
cast blue-0 node-a 0.0 10.7.0.1
cast blue-1 node-b 1.0 10.7.0.2
cast red-0 node-b 1.1 10.7.0.3
lay_wire
for pod in blue-0 blue-1 red-0; do plug_in "$pod"; done
run jq -c . blue-0.conf
attach blue-0 "$of_blue"
attach blue-1 "$of_blue"
attach red-0 "$of_red"
run ip -n red-0 address show net1
claim "red-0 sees its own RDMA device and no other" sees_one_device red-0
run ip netns exec red-0 rdma link show
run ibpodctl binding list

tell "5. In one partition: IPoIB, and RDMA at the emulator's pace."
run ip netns exec blue-1 ping -q -c 3 -i 0.2 -w 20 "${address[blue-0]}"
bandwidth blue-1 blue-0 || give_up "blue-1 has no RDMA to blue-0"

tell "6. From another partition: nothing, though the pods may tell each other their addresses over the cluster's own network."
run_in_vain 1 ip netns exec red-0 ping -q -c 2 -i 0.2 -W 1 "${address[blue-0]}"
if bandwidth red-0 blue-0; then give_up "red-0 has RDMA to blue-0"; fi
grep -q 'Failed status 12' client || give_up "it fails for another reason than the lack of an answer (12)"
run_line "ibpodctl explain team-red/red-0 team-blue/blue-0 | tail -n 2"

tell "7. Somebody who is root on a node writes blue's key into the table of red-0's port. OpenSM does not notice; ibpod-sm does."
port=${vf[red-0]} way=$(path_to "${vf[red-0]}")
before=$(mended)
run_line "ibpodctl doctor --fabric-only | grep ' m_key:'"
run_line "smpquery -C $pf -D pkeys $way | head -n 1"
run_line "smp $pf $way 0x16 0 80017fff | cut -c -16 | tee answer   # SubnSet(P_KeyTable); the answer is the table"
[ "$(<answer)" = 80017fff00000000 ] || give_up "the port does not take it"
claim "red-0's port has its own table back" has_table red-0 "$port" "$of_red"
run_line "smpquery -C $pf -D pkeys $way | head -n 1"
claim "ibpod-sm has found one table changed, and written it once" has_mended_once_since "$before"
run_line "jq -r 'select(.msg | test(\"0x8001, which nobody gave\")) | .time + \" \" + .msg' sm.log"

tell "8. red-0 is deleted. Its VF goes to a pod of the other team, without a trace of the first one."
call_plugin DEL red-0
run ip netns delete red-0
claim "the VF is back on its node, in no partition" has_table host "$port" 0:0x7fff
cast blue-2 node-b 1.1 10.7.0.4
plug_in blue-2
attach blue-2 "$of_blue"
run ip netns exec blue-2 ping -q -c 3 -i 0.2 -w 20 "${address[blue-0]}"

tell "9. Where the time of that ADD went."
time_line blue-2.log sm.log blue-2 "$began" "$ended"

printf '\nThe end, after %d s, %d s from power-on.\n' "$SECONDS" "$(cut -d. -f1 /proc/uptime)"
