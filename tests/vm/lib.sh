# Shared by the cases of the test VM. Each case starts with:  . "$ROOT/tests/vm/lib.sh"
# Set by the harness: ROOT, CASE, WORK (an empty folder, the case's own), PF0 and PF1 (PCI addresses), SEED, FULL (1: every
# point), KERNEL, MACHINE, IBPOD_BIN, CNI_PATH, SOFTHCA2 (the module of a second subnet). A case takes back all of its
# changes, with at_end at the latest.
# shellcheck shell=bash disable=SC2016,SC2034

if [ -n "${CASE:-}" ]; then set -euo pipefail; fi

# --- telling ----------------------------------------------------------------------------------------------------------

say() { echo "=== $SECONDS s: $*"; }

fail() {
  echo "FAIL: $*"
  exit 1
}

skip() {
  echo "$*"
  exit 77
}

expect_eq() { # WHAT GOT WANT
  [ "$2" = "$3" ] || fail "$1: got '$2', want '$3'"
}

expect_match() { # WHAT GOT GLOB
  # shellcheck disable=SC2053
  [[ $2 == $3 ]] || fail "$1: got '$2', want something like '$3'"
}

expect_refused() { # GLOB COMMAND...: the command fails, and says why
  local glob=$1 said
  shift
  if said=$("$@" 2>&1); then fail "it succeeded, and should not have: $*"; fi
  expect_match "$*" "$said" "$glob"
}

jq() { gojq "$@"; } # begins in an eighth of the time, and prints the keys of an object sorted

# --- waiting and tidying up -------------------------------------------------------------------------------------------

wait_for() { # SECONDS COMMAND...: polls until it succeeds, more and more rarely
  local seconds=$1 end=$((${EPOCHREALTIME/./} + $1 * 1000000)) tenths=1
  shift
  until "$@" >/dev/null 2>&1; do
    [ "${EPOCHREALTIME/./}" -lt "$end" ] || fail "after $seconds s still not: $*"
    sleep ".$tenths"
    if [ "$tenths" -lt 5 ]; then tenths=$((tenths + 1)); fi
  done
}

# So many of the values, which $SEED draws, a line each; all where the case runs whole.
sample() { # NUMBER VALUE...
  local number=$1
  shift
  if [ "$FULL" = 1 ]; then number=$#; fi
  shuf -n "$number" --random-source=<(yes "$SEED") -e "$@"
}

milliseconds() { echo $((${EPOCHREALTIME/./} / 1000)); }

undo=(${undo[@]+"${undo[@]}"}) # what is there stays: this may be sourced again
at_end() { # COMMAND...: runs when the case ends, however it ends; the last one first
  undo=("$(printf '%q ' "$@")" "${undo[@]}")
}

run_undo() {
  local status=$? command
  trap - EXIT
  for command in "${undo[@]}"; do
    eval "$command" || { echo "FAIL: at the end: $command"; [ "$status" != 0 ] || status=1; }
  done
  exit "$status"
}
if [ -n "${CASE:-}" ]; then trap run_undo EXIT; fi

# --- devices ----------------------------------------------------------------------------------------------------------

pf_pci() { if [ "$1" = 0 ]; then echo "$PF0"; else echo "$PF1"; fi; }

vf_pci() { # PF VF
  basename "$(readlink "/sys/bus/pci/devices/$(pf_pci "$1")/virtfn$2")"
}

pf_netdev() { ls "/sys/bus/pci/devices/$(pf_pci "$1")/net"; }

# In a pod's network namespace and with a sysfs of its own, or on the host, whose namespace is called "host".
within() { # POD COMMAND...
  local pod=$1
  shift
  if [ "$pod" = host ]; then "$@"; else ip netns exec "$pod" "$@"; fi
}

# The devices of a function in that namespace; empty: none.
rdma_device() { within "$1" sh -c 'ls /sys/bus/pci/devices/$0/infiniband 2>/dev/null || true' "$2"; } # POD PCI
netdev() { within "$1" sh -c 'ls /sys/bus/pci/devices/$0/net 2>/dev/null || true' "$2"; }             # POD PCI

port_state() { # POD PCI: "4: ACTIVE"
  within "$1" sh -c 'cat /sys/bus/pci/devices/$0/infiniband/*/ports/1/state' "$2"
}

port_guid() { # POD PCI: 0011:2233:4455:6677, as the port itself has it
  within "$1" sh -c 'cut -d: -f5- /sys/bus/pci/devices/$0/infiniband/*/ports/1/gids/0' "$2"
}

pkeys() { # POD PCI: "0:0x7fff 1:0x8001", without the empty entries
  within "$1" sh -c 'cd /sys/bus/pci/devices/$0/infiniband/*/ports/1/pkeys && grep -v 0x0000 [0-9]*' "$2" | sort -n | xargs
}

# Without one its node can ask the subnet nothing by it, whatever sysfs says of the port.
has_mad_agent() { smpquery -C "$(rdma_device host "$1")" -D nodeinfo 0 >/dev/null 2>&1; } # PCI

first_pkey_is() { [[ $(pkeys "$1" "$2") == "0:$3"* ]]; }             # POD PCI 0x8001
is_active() { [ "$(port_state "$1" "$2")" = "4: ACTIVE" ]; }       # POD PCI
is_down() { [ "$(port_state "$1" "$2")" = "1: DOWN" ]; }           # POD PCI
has_pkey() { [[ " $(pkeys "$1" "$2") " == *":$3 "* ]]; }           # POD PCI 0x8001
lacks_pkey() { [ -n "$(pkeys "$1" "$2")" ] && ! has_pkey "$@"; }   # POD PCI 0x8001; of a port that is there

rebind() { # PCI
  echo "$1" >/sys/bus/pci/drivers/softhca/unbind
  echo "$1" >/sys/bus/pci/drivers/softhca/bind
}

set_guid() { # PF VF GUID: both of a VF's GUIDs; they count from its next bind
  local link
  link=$(pf_netdev "$1")
  ip link set "$link" vf "$2" node_guid "$3"
  ip link set "$link" vf "$2" port_guid "$3"
}

set_policy() { ip link set "$(pf_netdev "$1")" vf "$2" state "$3"; } # PF VF auto|enable|disable

# Makes a VF ready for use, as a node's agent does, and ACTIVE; taken back at the end.
set_static_guid() { # PF VF GUID
  local pci
  pci=$(vf_pci "$1" "$2")
  at_end clear_guid "$1" "$2" "$(rdma_device host "$pci")"
  set_guid "$1" "$2" "$3"
  set_policy "$1" "$2" auto
  rebind "$pci"
  wait_for 10 is_active host "$pci"
  join_once "$(netdev host "$pci")"
}

# An interface that has once joined its broadcast group shows that group's MTU for good, down or not.
join_once() { # NETDEV
  ip link set "$1" up
  wait_for 10 grep -qx 1 "/sys/class/net/$1/carrier"
  ip link set "$1" down
}

# The kernel takes no GUID 0: all ones mean "none".
clear_guid() { # PF VF [RDMA-NAME]: the name it had; a bind gives a new one
  local pci now
  pci=$(vf_pci "$1" "$2")
  set_guid "$1" "$2" ff:ff:ff:ff:ff:ff:ff:ff
  set_policy "$1" "$2" disable
  rebind "$pci"
  now=$(rdma_device host "$pci")
  if [ "${3:-$now}" != "$now" ]; then rdma dev set "$now" name "$3"; fi
}

# --- namespaces -------------------------------------------------------------------------------------------------------

new_pod() { # NAME: a network namespace, as a container runtime makes one
  make_netns "$1"
  at_end delete_pod "$1"
}

make_netns() { # NAME: also again, after a pod's has been deleted
  ip netns add "$1"
  ip -n "$1" link set lo up
}

delete_pod() { [ ! -e "/run/netns/$1" ] || ip netns delete "$1"; }

# How RDMA devices follow namespaces. The kernel refuses (EBUSY) while any other network namespace is alive, and takes
# deleted ones down in the background.
rdma_mode() { # shared|exclusive
  at_end wait_for 10 rdma system set netns exclusive
  wait_for 10 rdma system set netns "$1"
}

# --- the subnet manager -----------------------------------------------------------------------------------------------

opensm_dir=/run/opensm
partitions=$opensm_dir/partitions.conf

sweeps() { grep -c 'SUBNET UP' "$opensm_dir/opensm.log" || true; }
has_swept_since() { [ "$(sweeps)" -gt "$1" ]; }

reload_opensm() { # reads partitions.conf again; returns when every port has its table
  local before
  # The first sweep to end may have begun before, as one does for each port that comes or goes; the second one has not.
  for _ in 1 2; do
    before=$(sweeps)
    kill -HUP "$(pidof opensm)"
    wait_for 20 has_swept_since "$before"
  done
}

partition() { # NAME PKEY [GUID=full|limited|both]...: one partition more, for the rest of the case
  local name=$1 pkey=$2 member members=""
  shift 2
  if [ ! -e "$WORK/partitions" ]; then
    cp "$partitions" "$WORK/partitions"
    at_end restore_partitions
  fi
  for member; do members+=", 0x${member//:/}"; done
  # One of that name is replaced.
  { grep -v "^$name=" "$partitions"; echo "$name=$pkey, ipoib : ${members#, };"; } >"$partitions.new"
  mv "$partitions.new" "$partitions"
  reload_opensm
}

restore_partitions() {
  cp "$WORK/partitions" "$partitions"
  reload_opensm
}

# The port GUIDs of all ports at the switch that answer a subnet management packet, asked from PF 0. The switch has no
# more ports in use than there are functions.
answering() {
  local functions=(/sys/bus/pci/drivers/softhca/0000:*) port
  for ((port = 1; port <= ${#functions[@]}; port++)); do
    smpquery -C "$(rdma_device host "$PF0")" -t 500 -D nodeinfo "0,1,$port" 2>/dev/null | sed -n 's/^PortGuid:\.*//p' &
  done | sort | xargs
}

no_opensm() { ! pidof opensm >/dev/null; }

stop_opensm() {
  kill "$(pidof opensm)"
  wait_for 20 no_opensm
}

launch_opensm() { bash -c '. "$ROOT/tests/vm/node.sh" && start_opensm "$@"' - "$@"; } # OPTION...

run_opensm() { # OPTION...: returns when the subnet is up
  local before
  before=$(sweeps)
  launch_opensm "$@"
  wait_for 20 has_swept_since "$before"
}

# For the rest of the case, with options of its own.
restart_opensm() { # OPTION...
  at_end plain_opensm
  stop_opensm
  run_opensm "$@"
}
plain_opensm() { no_opensm || stop_opensm; run_opensm; }

# --- the fabric -------------------------------------------------------------------------------------------------------

debugfs=/sys/kernel/debug/softhca

# The port of the switch that a function is at, and the way to it from PF 0; the way to the switch is 0,1.
switch_port() { cat "$debugfs/$1/switch_port"; } # PCI
path_to() { echo "0,1,$(switch_port "$1")"; } # PCI

fault() { # PCI KIND VALUE: for the rest of the case; the kinds are files of debugfs, see tests/softhca/faults.c
  at_end no_fault "$1" "$2"
  echo "$3" >"$debugfs/$1/$2"
}
no_fault() { echo 0 >"$debugfs/$1/$2"; } # PCI KIND

# The traps that a port has sent, as "SENT REPRESSED STATE".
told_by() { # PCI|switch NUMBER
  sed -n "s/^$2 sent \([0-9]*\) repressed \([0-9]*\) \(.*\)/\1 \2 \3/p" "$debugfs/$1/traps"
}
trap_answered() { [[ $(told_by "$1" "$2") == *" idle" ]]; } # PCI|switch NUMBER

# Which number of a trap an agent has sent; and whether it has sent another since.
sent_by() { told_by "$@" | cut -d' ' -f1 | grep . || echo 0; }      # PCI|switch NUMBER
has_told_since() { [ "$(sent_by "$1" "$2")" -gt "$3" ]; }           # PCI|switch NUMBER BEFORE

# How often OpenSM's log, which is of the whole boot, has a line like that; and whether again since.
logged() { grep -c "$1" "$opensm_dir/opensm.log" || true; }         # PATTERN
is_logged_since() { [ "$(logged "$1")" -gt "$2" ]; }                # PATTERN BEFORE

expect_no_answer() { expect_refused "no answer" env SMP_TIMEOUT_MS=500 smp "$@"; } # ARGUMENT... of smp

# A piece of an attribute as smp prints it, and the attribute with a piece replaced.
piece() { echo "${1:$2 * 2:$3 * 2}"; }                      # HEX OFFSET LENGTH
patch() { echo "${1:0:$2 * 2}$3${1:$2 * 2 + ${#3}}"; }      # HEX OFFSET NEW

# Between two functions on the host; over localhost they tell each other their addresses.
pingpong() { # rc|uc|ud SERVER-PCI CLIENT-PCI [OPTION...]: the client's exit code, what it says in $WORK/client
  local server transport=$1 status=0
  timeout 120 "ibv_${transport}_pingpong" -d "$(rdma_device host "$2")" "${@:4}" >"$WORK/server" 2>&1 &
  server=$!
  wait_for 20 listens_tcp host
  timeout "${PATIENCE:-120}" "ibv_${transport}_pingpong" -d "$(rdma_device host "$3")" "${@:4}" localhost \
    >"$WORK/client" 2>&1 || status=$?
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  return "$status"
}

# True if a program waits there for its other side: over TCP, as ibv_*_pingpong and perftest do, or by the connection
# manager.
listens_tcp() { [ -n "$(within "$1" ss -Hltn "sport 18515")" ]; }          # POD
listens_cm() { within "$1" rdma resource show cm_id | grep -q LISTEN; }    # POD

# --- calling a plugin -------------------------------------------------------------------------------------------------

plugin=ib-sriov

find_plugin() {
  local dir
  for dir in ${CNI_PATH//:/ }; do
    if [ -x "$dir/$plugin" ]; then echo "$dir/$plugin"; return; fi
  done
  fail "no plugin $plugin in $CNI_PATH"
}

# Calls the plugin as a container runtime does, with the configuration on standard input; more VAR=VALUE may follow.
# Sets rc, out and err.
cni() { # ADD|DEL|CHECK|GC|STATUS|VERSION POD IFNAME [VAR=VALUE...]
  local command=$1 pod=$2 ifname=$3 program
  shift 3
  program=$(find_plugin) || fail "$program"
  rc=0
  env CNI_COMMAND="$command" CNI_CONTAINERID="$pod" CNI_NETNS="/run/netns/$pod" CNI_IFNAME="$ifname" \
    CNI_ARGS="IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=$pod;K8S_POD_UID=uid-of-$pod" \
    CNI_PATH="$CNI_PATH" "$@" \
    "$program" >"$WORK/out" 2>"$WORK/err" || rc=$?
  out=$(<"$WORK/out") err=$(<"$WORK/err")
  if [ "$rc" != 0 ]; then printf '%s %s %s: exit %s\n%s\n' "$command" "$pod" "$ifname" "$rc" "$out"; fi
}

# From a trace of strace -f: the system calls, whose ends count no second time where another thread came between, and the
# threads.
calls_in() { grep -Evc '^[0-9]+ +(<\.\.\. |\+\+\+ |--- )' "$1"; } # FILE
threads_in() { cut -d' ' -f1 "$1" | sort -u | wc -l; }               # FILE

# Writes $WORK/conf: a network "ibnet" with that device, changed by a jq filter, which may speak of $work.
conf() { # PCI [FILTER]
  jq -n --arg pci "$1" --arg work "$WORK" --arg plugin "$plugin" \
    "{cniVersion: \"1.1.0\", name: \"ibnet\", type: \$plugin, deviceID: \$pci} | ${2:-.}" >"$WORK/conf"
}

# Sets the administrator's configuration of the plugins on this node, by a jq filter as for conf.
node_config() { # FILTER
  mkdir -p /etc/ibpod
  at_end rm -f /etc/ibpod/cni.json
  jq -n --arg work "$WORK" "$1" >/etc/ibpod/cni.json
}

# Filters for conf. Debian's IPAM plugins stop at 1.0.0; "lease" is a double of tests/vm/ipam.
host_local='.cniVersion = "1.0.0" | .ipam = {type: "host-local", subnet: "10.7.0.0/24", dataDir: "\($work)/leases"}'
has_leases() { [ "$(cd "$WORK/leases" && echo *:*)" = "$1" ]; } # "NAME..."; the agent asks IPAM last
lease='.ipam = {type: "lease", folder: "\($work)/leases"}'

# With the configuration $WORK/conf and the interface net1, without judging the outcome.
call() { cni "$1" "$2" net1 "${@:3}" <"$WORK/conf"; } # VERB POD [VAR=VALUE...]

must() { # VERB POD [VAR=VALUE...]: must succeed
  call "$@"
  [ "$rc" = 0 ] || fail "$1 $2: ${err##*$'\n'}"
}
add() { must ADD "$@"; } # POD [VAR=VALUE...]
del() { must DEL "$@"; } # POD [VAR=VALUE...]

# The result of the ADD just made goes into the configuration as prevResult, as a runtime has it for CHECK and DEL.
keep_result() {
  jq --argjson result "$out" '.prevResult = $result' "$WORK/conf" >"$WORK/conf.new"
  mv "$WORK/conf.new" "$WORK/conf"
}

gc() { # CONTAINER...: GC of the network $WORK/conf; the net1 of these containers are the valid attachments
  jq '."cni.dev/valid-attachments" = [$ARGS.positional[] | {containerID: ., ifname: "net1"}]' "$WORK/conf" \
    --args "$@" >"$WORK/gc"
  cni GC "" "" <"$WORK/gc"
  [ "$rc" = 0 ] || fail "GC: ${err##*$'\n'}"
}

expect_error() { # CODE GLOB: of the call just made, in its message
  [ "$rc" != 0 ] || fail "it succeeded, and should have failed with $1"
  expect_eq "code" "$(jq .code <<<"$out")" "$1"
  expect_match "message" "$(jq -r .msg <<<"$out")" "$2"
}

expect_result() { # FILTER: a jq condition that holds for the result of the ADD just made
  jq -e "$1" <<<"$out" >/dev/null || fail "the result is not such that $1: $out"
}

expect_log() { # GLOB: in what the call just made has logged
  expect_match "log" "$err" "*$1*"
}

remember_node() { nodestate >"$WORK/${1:-node}"; } # [NAME]

expect_unchanged() { # WHAT [NAME]: the node, since remember_node
  nodestate >"$WORK/node.now"
  diff -U0 "$WORK/${2:-node}" "$WORK/node.now" || fail "$1 has changed the node"
}

# ADD is refused, and neither it nor the DEL that follows changes anything.
refuse() { # CODE GLOB POD [VAR=VALUE...]
  local code=$1 glob=$2
  shift 2
  remember_node node.refuse
  call ADD "$@"
  expect_error "$code" "$glob"
  expect_unchanged "a refused ADD" node.refuse
  del "$@"
  expect_unchanged "the DEL of a refused ADD" node.refuse
}

# Runs a command beside the case, with $WORK/KEY for its configuration (that of the case, unless there is one), rc, out and
# err. Its process is $!.
aside() { # KEY COMMAND...
  local own=$WORK/$1
  shift
  mkdir -p "$own"
  [ -e "$own/conf" ] || cp "$WORK/conf" "$own/"
  WORK=$own "$@" &
}

at_once() { # VERB POD...: the calls side by side, each with $WORK/POD/conf
  local verb=$1 pod pids=() begin
  begin=$(milliseconds)
  shift
  for pod; do
    aside "$pod" must "$verb" "$pod"
    pids+=($!)
  done
  for pod in "${pids[@]}"; do wait "$pod" || fail "one of $# $verb"; done
  echo "$# $verb at once: $(($(milliseconds) - begin)) ms"
}

conf_of() { # POD PCI [FILTER]: for at_once and aside
  mkdir -p "$WORK/$1"
  conf "${@:2}"
  mv "$WORK/conf" "$WORK/$1/conf"
}

# A number of the binding of a function to its driver; a second bind gives another number.
binding() { stat -c %i "/sys/bus/pci/devices/$1/driver"; } # PCI

# GUIDs and policy of a VF as its PF has them.
told() { ip -d link show "$(pf_netdev "$1")" | grep "vf $2 "; } # PF VF
