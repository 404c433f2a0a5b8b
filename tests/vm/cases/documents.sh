#!/bin/bash
# Every command of README and docs that is said to run here runs: those of operations.md and by-hand.md one after the other, the others on what they have installed.
# deadline: 600
# shellcheck disable=SC2016
. "$ROOT/tests/vm/documents.sh"
CNI_PATH=/opt/cni/bin:$CNI_PATH
agent_pid=""

# --- stand-ins for the cluster -----------------------------------------------------------------------------------

# Does the work of a document's commands for kubectl.
elsewhere() { # PLACE HEADING
  case $1:$2 in
    host:*) by_hand "$2" vm ;;
    "cluster:3. The agents") roll_out ;;
    "cluster:Add a partition") start_pods ;;
    "cluster:Remove a node") leave ;;
  esac
}

# As the DaemonSet does, at the first of its commands. There is no kubelet.
roll_out() {
  if [ -n "$agent_pid" ]; then return 0; fi
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

# The network is the one that the document applies.
start_pods() {
  local pod pf=0
  awk '/^  config: \|$/ {within = 1; next} /^---$/ {within = 0} within' manifests/examples/training.yaml >"$WORK/network"
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

# At the first command of several, too.
leave() {
  if [ -z "$agent_pid" ]; then return 0; fi
  run_others
  end_pods
  end_agent
}

run_others() {
  local document
  for document in README.md docs/*.md; do
    [[ $document == docs/@(operations|by-hand).md ]] || (run_document "$document" vm)
  done
}

prepare_documents
at_end end_agent
at_end delete_pod web-0
at_end delete_pod web-1
at_end tail -n 5 "$WORK/agent.log"
run_document docs/operations.md vm
