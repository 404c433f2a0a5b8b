# The node of node.sh as a cluster of one: an API server, the scheduler and controllers beside its kubelet, the agent as the
# pod of a DaemonSet, and Multus' stand-in, which is told by the API server. Sourced in place of node.sh.
# shellcheck shell=bash disable=SC2016,SC2034,SC2154
. "$ROOT/tests/cluster/node.sh"
. "$ROOT/tests/cluster/api_server.sh"

api_folder=$here/api
die() { fail "$@"; }

start_cluster() {
  make_machine
  at_end stop_cluster
  start_control_plane
  install_multus
  start_containerd
  import_images pause busybox debian
  import_agent
  kubelet_options=(--kubeconfig "$KUBECONFIG" --address "$node_address") # who runs a command in a pod is led there
  start_kubelet
  wait_for 120 kubectl wait --for condition=Ready --timeout 1s "node/$node"
}

start_control_plane() {
  mkdir -p "$api_folder"
  # Processes that it starts are in the cgroup, too.
  (
    echo "$BASHPID" >"$groups/node/cgroup.procs"
    start_api_server "$api_folder" "$node_address"
  )
  export KUBECONFIG=$api_folder/kubeconfig
  run_daemon scheduler kube-scheduler --kubeconfig "$KUBECONFIG" --leader-elect=false
  run_daemon controllers kube-controller-manager --kubeconfig "$KUBECONFIG" --leader-elect=false \
    --controllers daemonset-controller,statefulset-controller,node-lifecycle-controller,garbage-collector-controller
  kubectl apply --filename "$ROOT/tests/cluster/network_attachment_definition.yaml"
  wait_for 60 kubectl wait --for condition=Established --timeout 1s crd/network-attachment-definitions.k8s.cni.cncf.io
}

# As if somebody had pushed it to a registry, and the node had fetched it.
import_agent() {
  ctr -n k8s.io images import "$cluster/agent.tar" >/dev/null
  ctr -n k8s.io images tag docker.io/ibpod/agent:0.1.0 "$REGISTRY/ibpod/agent:0.1.0" >/dev/null
}

# The stand-in takes pods and networks of a folder: before each call it is filled by the API server.
install_multus() {
  at_end delete_bridge
  cp "${MULTUS:-$ROOT/build/release/tests/vm/multus}" "$here/multus"
  install -m 0755 "$ROOT/tests/cluster/multus.sh" "$IBPOD_BIN/multus"
  at_end rm "$IBPOD_BIN/multus"
  jq -n --argjson cluster "$(cluster_network)" --arg objects "$here/objects" --arg kubeconfig "$api_folder/kubeconfig" '{
    cniVersion: "1.0.0", name: "multus", type: "multus", binDir: "/opt/cni/bin", $objects, $kubeconfig,
    delegates: [$cluster]}' >"$here/net.d/00-multus.conf"
}

stop_cluster() {
  keep_logs
  cp "$api_folder"/*.log "$log_folder/"
  power_cut
}
