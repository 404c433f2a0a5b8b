# Makes the guest a node with two InfiniBand adapters and a subnet manager, and tells what state it is in.
# Sourced by tests/vm/guest.sh.
# shellcheck shell=bash disable=SC2119,SC2120

opensm_dir=/run/opensm

poll() { # SECONDS COMMAND...: until the command succeeds
  local end=$((${EPOCHREALTIME/./} + $1 * 1000000))
  shift
  until "$@"; do
    [ "${EPOCHREALTIME/./}" -lt "$end" ] || return 1
    sleep .1
  done
}

prepare_node() {
  mkdir -p /dev/pts /dev/shm && mount -t devpts devpts /dev/pts && mount -t tmpfs tmpfs /dev/shm
  mount -t debugfs debugfs /sys/kernel/debug
  ln -s /proc/self/fd /dev/fd
  rm -rf /var/lib/ibpod /var/lib/cni # what the host itself may have there
  hostname ibpod-vm
  ip link set lo up
  load_modules && find_pfs && start_opensm || return 1
  # On one boot both PFs make their VFs while the first ports come up.
  make_vfs "$PF0" "${VFS% *}" &
  local first=$!
  make_vfs "$PF1" "${VFS#* }" && wait "$first" && poll 20 pf_active "$PF0" && poll 20 pf_active "$PF1"
}

load_modules() {
  local release
  release=$(uname -r)
  if [ "$MODULES" != / ]; then
    mkdir -p "/lib/modules/$release"
    mount --bind "$MODULES/lib/modules/$release" "/lib/modules/$release" || return 1
  fi
  # dummy0 would come with its module, where no systemd says otherwise.
  modprobe dummy numdummies=0 && modprobe -a ib_core rdmavt ib_ipoib ib_umad ib_uverbs rdma_ucm &&
    insmod "$SOFTHCA" && rdma system set netns exclusive
}

find_pfs() {
  local pfs=(/sys/bus/pci/drivers/softhca/0000:*)
  [ ${#pfs[@]} = 2 ] || return 1
  PF0=${pfs[0]##*/} PF1=${pfs[1]##*/}
  export PF0 PF1
  ip link set "$(ls "/sys/bus/pci/devices/$PF0/net")" up && ip link set "$(ls "/sys/bus/pci/devices/$PF1/net")" up
}

# -s 1: every second it looks for ports that came or went, as traps can be lost. -d 2: its log is written at once.
start_opensm() { # OPTION...
  local guid
  guid=$(cat "/sys/bus/pci/devices/$PF0/infiniband/"*/node_guid)
  mkdir -p "$opensm_dir"
  if [ ! -e "$opensm_dir/partitions.conf" ]; then
    echo 'Default=0x7fff, ipoib : ALL=limited, ALL_SWITCHES=full, SELF=full;' >"$opensm_dir/partitions.conf"
  fi
  OSM_CACHE_DIR=$opensm_dir OSM_TMP_DIR=$opensm_dir opensm -B -g "0x${guid//:/}" -s 1 -d 2 \
    -P "$opensm_dir/partitions.conf" -f "$opensm_dir/opensm.log" "$@" >/dev/null
}

make_vfs() { # PF NUMBER
  echo "$2" >"/sys/bus/pci/devices/$1/sriov_numvfs"
}

pf_active() { # PF
  [ "$(cat "/sys/bus/pci/devices/$1/infiniband/"*/ports/1/state)" = "4: ACTIVE" ]
}

# An interface that is down has left its multicast groups: with it up and no SM to answer, unloading waits.
unload_node() {
  local pf
  ip link set "$(ls "/sys/bus/pci/devices/$PF0/net")" down
  ip link set "$(ls "/sys/bus/pci/devices/$PF1/net")" down
  for pf in "$PF0" "$PF1"; do make_vfs "$pf" 0 || return 1; done
  kill "$(pidof opensm)"
  rmmod softhca
}

# The programs in user space beside PID 1, without process IDs: a daemon may have been started again.
user_processes() {
  ps -e -o ppid=,pid=,args= >/run/processes
  awk '$2 > 2 && $1 != 2 && $3 != "ps" {$1 = $2 = ""; print "process" $0}' /run/processes | sort
}
