# The node of node.sh as a cluster of one: an API server, the scheduler and controllers beside its kubelet, the agent as the
# pod of a DaemonSet, and Multus' stand-in, which is told by the API server. Programs in pods find that by its name, as they
# would by the cluster's DNS. Sourced in place of node.sh.
# shellcheck shell=bash disable=SC2016,SC2034,SC2154
. "$ROOT/tests/cluster/node.sh"
. "$ROOT/tests/cluster/api_server.sh"

api_folder=$here/api
api_port=443
die() { fail "$@"; }

controllers=(daemonset-controller statefulset-controller node-lifecycle-controller garbage-collector-controller
  serviceaccount-controller root-ca-certificate-publisher-controller)

start_cluster() {
  make_machine
  at_end stop_cluster
  start_control_plane
  install_multus
  start_containerd
  import_images pause busybox debian
  import_ours agent
  kubelet_options=(--kubeconfig "$KUBECONFIG" --address "$node_address") # who runs a command in a pod is led there
  start_kubelet
  wait_for 120 kubectl wait --for condition=Ready --timeout 1s "node/$node"
}

start_control_plane() {
  mkdir -p "$api_folder"
  cp /etc/hosts "$WORK/hosts.before"
  at_end cp "$WORK/hosts.before" /etc/hosts
  echo "$node_address kubernetes.default.svc" >>/etc/hosts
  # Processes that it starts are in the cgroup, too.
  (
    echo "$BASHPID" >"$groups/node/cgroup.procs"
    start_api_server "$api_folder" "$node_address" --allow-privileged
  )
  export KUBECONFIG=$api_folder/kubeconfig
  # Its own certificate, and then the one of the CA.
  awk '/BEGIN/ {n++} n == 2' "$api_folder/certificates/apiserver.crt" >"$api_folder/ca.crt"
  run_daemon scheduler kube-scheduler --kubeconfig "$KUBECONFIG" --leader-elect=false
  run_daemon controllers kube-controller-manager --kubeconfig "$KUBECONFIG" --leader-elect=false \
    --controllers "$(IFS=,; echo "${controllers[*]}")" --service-account-private-key-file "$api_folder/accounts.key" \
    --root-ca-file "$api_folder/ca.crt"
  kubectl apply --filename "$ROOT/tests/cluster/network_attachment_definition.yaml"
  wait_for 60 kubectl wait --for condition=Established --timeout 1s crd/network-attachment-definitions.k8s.cni.cncf.io
}

# As if somebody had pushed them to a registry, and the node had fetched them.
import_ours() { # agent|sm...
  local name
  for name; do
    ctr -n k8s.io images import "$cluster/$name.tar" >/dev/null
    ctr -n k8s.io images tag "docker.io/ibpod/$name:0.1.0" "$REGISTRY/ibpod/$name:0.1.0" >/dev/null
  done
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

# --- what is asked of the API server and of ibpod-sm ----------------------------------------------------------------------

of_pod() { # NAMESPACE POD FILTER: of its attachment's record
  find "$records" -name '*.json' -exec jq -r --arg namespace "$1" --arg name "$2" \
    ".attachment | select(.pod.namespace == \$namespace and .pod.name == \$name) | $3" {} +
}

netns_of_pod() { basename "$(of_pod "$1" "$2" .netns.path)"; } # NAMESPACE POD

stop_cluster() {
  keep_logs
  cp "$api_folder"/*.log "$log_folder/"
  power_cut
}
