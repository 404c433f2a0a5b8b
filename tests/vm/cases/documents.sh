#!/bin/bash
# Every command of README and docs that is said to run here runs: those of operations.md one after the other, the others on what they have installed.
# deadline: 600
# shellcheck disable=SC1090,SC2016
. "$ROOT/tests/vm/sm.sh"
. "$ROOT/tests/vm/stage.sh"
export NODE=worker-1 SM_HOST=ibpod-sm.example.com
CNI_PATH=/opt/cni/bin:$CNI_PATH
declare -A units # UNIT: its process
agent_pid=""

# --- what stands in for systemd ---------------------------------------------------------------------------------------

systemctl() { # VERB... UNIT
  local verb=$1 unit=${!#}
  case $verb in
    daemon-reload) ;;
    start | enable) start_unit "$unit" ;;
    stop | disable) stop_unit "$unit" ;;
    restart) stop_unit "$unit" && start_unit "$unit" ;;
    *) fail "systemctl $*" ;;
  esac
}

start_unit() { # UNIT
  local command
  read -ra command < <(sed -n 's/^ExecStart=//p' "/etc/systemd/system/$1.service")
  exec "${command[@]}" >>"$WORK/$1.log" 2>&1 & # with a trap for errors bash would stay in between
  units[$1]=$!
}

# OpenSM's is the one of the node; that of ibpod-sm is not stopped with it.
stop_unit() { # UNIT
  local pid=${units[$1]:-}
  unset "units[$1]"
  if [ "$1" = opensm ]; then stop_opensm; fi
  if [ -n "$pid" ]; then kill "$pid" && wait "$pid"; fi
}

# --- what stands in for the cluster -----------------------------------------------------------------------------------

# Where a document has commands for kubectl.
elsewhere() { # PLACE HEADING
  case $1:$2 in
    "cluster:4. The agents") roll_out ;;
    "cluster:5. A partition, a network, a pod") start_pods ;;
    "cluster:Taking ibpod off a node")
      run_others
      end_pods
      end_agent
      ;;
  esac
}

# As the DaemonSet does. There is no kubelet.
roll_out() {
  mkdir "$WORK/programs"
  cp "$IBPOD_BIN"/{ib-sriov,ipoib} "$WORK/programs/"
  images/install.sh programs "$WORK/programs" /opt/cni/bin
  jq '.kubelet = false' my-cluster/agent.json >"$WORK/agent.json"
  exec ibpod-agent --config "$WORK/agent.json" --node "$NODE" >>"$WORK/agent.log" 2>&1 &
  agent_pid=$!
  wait_for 60 has_vfs
}
has_vfs() { [ "$(ibpodctl --json devices | jq '[.[] | select(.healthy and .state == "ACTIVE")] | length')" = 4 ]; }

end_agent() {
  if [ -z "$agent_pid" ]; then return 0; fi
  kill "$agent_pid"
  wait "$agent_pid" || true
  agent_pid=""
}

# The network is the document's.
start_pods() {
  local pod pf=0
  awk '/^  config: \|$/ {within = 1; next} /^---$/ {within = 0} within' docs/operations.md >"$WORK/network"
  for pod in web-0 web-1; do
    mkdir "$WORK/$pod"
    jq --arg vf "$(vf_pci "$pf" 0)" '.deviceID = $vf' "$WORK/network" >"$WORK/$pod/conf"
    make_netns "$pod"
    of_pod ADD "$pod"
    pf=$((pf + 1))
  done
  wait_for 20 ip netns exec web-1 ping -q -c 1 -W 2 "$(ip -n web-0 -4 -j address show net1 | jq -r '.[].addr_info[0].local')"
}

of_pod() { # VERB POD
  cni "$1" "$2" net1 CNI_ARGS="IgnoreUnknown=1;K8S_POD_NAMESPACE=team-a;K8S_POD_NAME=$2;K8S_POD_UID=uid-of-$2" <"$WORK/$2/conf"
  [ "$rc" = 0 ] || fail "$1 $2: ${err##*$'\n'}"
}

end_pods() {
  local pod
  for pod in web-0 web-1; do
    of_pod DEL "$pod"
    delete_pod "$pod"
  done
}

# --- documents --------------------------------------------------------------------------------------------------------

# With 1 and 2 it says what it has found.
ibpodctl() {
  local status=0
  command ibpodctl "$@" || status=$?
  [ "$status" = 0 ] || { [[ " $* " == *" doctor "* ]] && [ "$status" -le 2 ]; }
}

run_document() { # DOCUMENT: its lines keep their numbers
  mkdir -p "$WORK/$(dirname "$1")"
  awk -v place=vm -f tests/blocks.awk "$1" >"$WORK/$1"
  grep -q . "$WORK/$1" || return 0
  say "$1"
  . "$WORK/$1"
}

run_others() {
  local document
  for document in README.md docs/*.md; do
    [ "$document" = docs/operations.md ] || (run_document "$document")
  done
}

sweep_away() {
  cd "$WORK"
  rm -rf /etc/ibpod /var/lib/ibpod /var/lib/ibpod-sm /var/lib/cni /run/ibpod ~/ibpod-ca ~/ibpod-sm.tgz "$ROOT/my-cluster"
  rm -f /usr/local/sbin/{ibpod-sm,ibpodctl} /opt/cni/bin/{ib-sriov,ipoib} /etc/systemd/system/ibpod-sm.service
  rm -f /etc/{modules-load.d,modprobe.d}/ibpod.conf
  cp "$WORK/hosts" /etc/hosts
}

unlock() {
  local key
  if [ -e /etc/ibpod/m_key ]; then
    read -r key </etc/ibpod/m_key
    forget_keys "${key#0x}" "$PF0" "$PF1"
  fi
}

at_end stage_as_before 2
at_end plain_opensm
at_end sweep_away
at_end unlock
at_end end_opensm
at_end stop_unit ibpod-sm
at_end end_agent
at_end delete_pod web-0
at_end delete_pod web-1
at_end tail -n 5 "$WORK/ibpod-sm.log" "$WORK/agent.log"
clear_stage
cp /etc/hosts "$WORK/"
echo "127.0.0.1 $SM_HOST" >>/etc/hosts
mkdir -p /etc/ibpod /opt/cni/bin
awk '/^```json$/ {within = 1; next} within && /^```$/ {exit} within' "$ROOT/docs/ibpod-sm.md" >/etc/ibpod/sm.json
cd "$ROOT"
set -E
trap 'echo "FAIL: ${BASH_SOURCE[0]#"$WORK/"}:$LINENO: $(sed -n "${LINENO}p" "${BASH_SOURCE[0]}")"' ERR
run_document docs/operations.md
