# The story that ./demo tells; runs in the test VM, its output goes to the person's terminal.
# shellcheck shell=bash
. "$ROOT/tests/vm/lib.sh"

tell() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() {
  printf '\033[36m$ %s\033[0m\n' "$*"
  "$@"
}

tell "The node has two InfiniBand adapters with SR-IOV; a subnet manager has brought their ports up."
run ibstat -s "$(rdma_device host "$PF0")"

tell "The first one has eight virtual functions. None has a GUID yet, so their ports are down."
run rdma link show
run ip link show "$(pf_netdev 0)" | grep -E '^.\[|vf 0 ' | sed 's/link.infiniband.*fq, //'

tell "A virtual function gets a GUID; the subnet manager sees a new port and brings it up."
vf=$(vf_pci 0 0)
set_static_guid 0 0 00:11:22:33:44:55:66:77
run rdma link show "$(rdma_device host "$vf")/1"
run ibhosts
