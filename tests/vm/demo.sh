# The story that ./demo tells; runs in the test VM, its output goes to the person's terminal.
# shellcheck shell=bash
. "$ROOT/tests/vm/lib.sh"
mkdir -p "${WORK:=/run/demo}"

tell() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() {
  printf '\033[36m$ %s\033[0m\n' "$*"
  "$@"
}
give_up() {
  echo "the demo stops here: $*"
  exit 1
}

tell "1. This machine's kernel sees two InfiniBand adapters with SR-IOV. OpenSM has brought their ports up."
run ibstat -s "$(rdma_device host "$PF0")"
printf 'The first one has %s virtual functions.\n' "$(cat "/sys/bus/pci/devices/$PF0/sriov_numvfs")"

tell "2. The node's administrator has given the VF 0 a GUID, as a node agent would. Its port is ACTIVE."
vf=$(vf_pci 0 0) guid=02:00:00:00:00:00:aa:01
set_static_guid 0 0 02:00:00:00:00:00:01:01
run rdma link show "$(rdma_device host "$vf")/1"
nodestate >"$WORK/before"

tell "3. A pod starts: its network namespace, and the call that a container runtime makes."
run ip netns add pod
jq -n --arg vf "$vf" --arg guid "$guid" '{cniVersion: "1.0.0", name: "ibnet", type: "ib-sriov", deviceID: $vf,
  guid: $guid, rdmaIsolation: true, link_state: "auto",
  ipam: {type: "host-local", subnet: "10.7.0.0/24", dataDir: "/run/demo/leases"}}' | tee "$WORK/conf"
echo
printf '\033[36m$ CNI_COMMAND=ADD CNI_CONTAINERID=pod CNI_NETNS=/run/netns/pod CNI_IFNAME=net1 ib-sriov <conf\033[0m\n'
cni ADD pod net1 <"$WORK/conf"
if [ "$rc" != 0 ]; then give_up "ADD: $out"; fi
jq . <<<"$out"

tell "4. What the pod has: its interface with an address, its RDMA device with the GUID it asked for, and nobody else's."
run ip -n pod address show net1
run ip netns exec pod rdma link show
run ip netns exec pod ibv_devinfo
[ "$(port_guid pod "$vf")" = 0200:0000:0000:aa01 ] || give_up "the port has another GUID"
[ "$(ip netns exec pod rdma dev | wc -l)" = 1 ] || give_up "the pod sees other RDMA devices"

tell "5. Where the time of that ADD went, from the plugin's log:"
jq -r 'select(.us != null and .us > 2000) | "\(.us / 1000 | floor) ms\t\(.step)"' "$WORK/err"

tell "6. The pod is deleted."
cni DEL pod net1 <"$WORK/conf"
if [ "$rc" != 0 ]; then give_up "DEL: $out"; fi
run ip netns delete pod
as_before() { nodestate >"$WORK/after" && cmp -s "$WORK/before" "$WORK/after"; }
wait_for 10 as_before || give_up "$(diff "$WORK/before" "$WORK/after")"
printf 'The node is exactly as before: %s facts compared (links, names, addresses, MTUs, RDMA devices, GUIDs, policies, files).\n' \
  "$(wc -l <"$WORK/before")"
