# Pods whose networks are called by Multus: the stand-in of tests/support/multus, or a real one if MULTUS names it:
# MULTUS=FOLDER/multus, or MULTUS=FOLDER/multus-shim for the thick one. A case of the thick one needs both, and multus-daemon.
# Pods and networks are objects in a folder, and the devices that the kubelet would have given them are in its checkpoint. Sourced after
# lib.sh.
# shellcheck shell=bash disable=SC2016,SC2034
objects=$WORK/objects
plugin=multus
api=127.0.0.1:8001
account=/var/run/secrets/kubernetes.io/serviceaccount # where the daemon looks for what a pod has
thick=""                                              # 1: the case wants a shim and a daemon
case ${MULTUS:-} in */multus-shim) thick=1 ;; esac
kubelet=/var/lib/kubelet/device-plugins
device_info=/var/run/k8s.cni.cncf.io/devinfo

install_multus() {
  local program=${MULTUS:-$ROOT/build/release/tests/vm/multus}
  if [ "${MULTUS:-}" ] && [ "$thick" ]; then program=$(dirname "$MULTUS")/multus-shim; fi
  cp "$program" "$IBPOD_BIN/multus"
  at_end rm -rf "$IBPOD_BIN/multus" "$device_info" /var/lib/kubelet /var/lib/cni
  mkdir -p "$kubelet" "$objects"
  echo '{"Data": {"PodDeviceEntries": []}}' >"$kubelet/kubelet_internal_checkpoint"
  # Each of the two takes no notice of where the other one looks for pods.
  jq -n --arg objects "$objects" --arg kubeconfig "$WORK/kubeconfig" --arg bin "$IBPOD_BIN" '{cniVersion: "1.0.0", name: "cluster",
    type: "multus", binDir: $bin, $objects, $kubeconfig,
    delegates: [{cniVersion: "1.0.0", name: "cluster", type: "loopback"}]}' >"$WORK/multus"
  if [ -n "${MULTUS:-}" ]; then serve_objects; fi
  if [ "$thick" ]; then install_daemon; fi
}

# --- the thick one: $WORK/multus is the shim's configuration, and a daemon makes the calls ----------------------------

install_daemon() {
  jq --arg folder "$WORK/daemon" '. + {daemonSocketDir: $folder} | del(.kubeconfig)' "$WORK/multus" >"$WORK/shim"
  mv "$WORK/shim" "$WORK/multus"
  # It ends at once unless it has a cluster's network to write a configuration for, which nobody reads here.
  mkdir -p "$WORK/net.d"
  echo '{"cniVersion": "1.0.0", "name": "cluster", "plugins": [{"type": "loopback"}]}' >"$WORK/net.d/10-cluster.conflist"
  jq -n --arg work "$WORK" '{cniVersion: "1.0.0", socketDir: "\($work)/daemon", logLevel: "verbose", logToStderr: true,
    multusConfigFile: "auto", cniConfigDir: "\($work)/net.d", multusAutoconfigDir: "\($work)/net.d"}' >"$WORK/daemon.json"
  daemon_pid=""
  at_end end_daemon
  start_daemon
}

start_daemon() { # returns when it answers
  local program=("$IBPOD_BIN/multus" --daemon "$WORK/daemon")
  if [ -n "${MULTUS:-}" ]; then program=("$(dirname "$MULTUS")/multus-daemon" -config "$WORK/daemon.json"); fi
  KUBERNETES_SERVICE_HOST=${api%:*} KUBERNETES_SERVICE_PORT=${api#*:} "${program[@]}" >>"$WORK/daemon.log" 2>&1 &
  daemon_pid=$!
  wait_for 60 daemon_answers
}
daemon_answers() {
  if [ -n "${MULTUS:-}" ]; then
    curl -sf --unix-socket "$WORK/daemon/multus.sock" http://multus/readyz
  else
    [ -S "$WORK/daemon/multus.sock" ]
  fi
}

# As the kernel kills one that takes too much memory; its socket stays.
end_daemon() {
  if [ -z "$daemon_pid" ]; then return 0; fi
  kill -KILL "$daemon_pid"
  wait "$daemon_pid" 2>/dev/null || true
  daemon_pid=""
}

serve_objects() {
  jq -n --arg server "http://$api" '{apiVersion: "v1", kind: "Config", "current-context": "test",
    clusters: [{name: "test", cluster: {$server}}], users: [{name: "test"}],
    contexts: [{name: "test", context: {cluster: "test", user: "test"}}]}' >"$WORK/kubeconfig"
  local certificate=()
  if [ "$thick" ]; then
    make_account
    certificate=("$account/ca.crt" "$WORK/api.key")
  fi
  python3 "$ROOT/tests/support/multus/api_server.py" "$objects" "$api" "${certificate[@]}" >"$WORK/api.log" 2>&1 &
  at_end kill $!
  wait_for 30 curl -sk "$(api_url)/"
}

# A daemon finds its API server as a program in a pod does: over TLS.
make_account() {
  mkdir -p "$account"
  at_end rm -rf "$account"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 1 -subj /CN=api \
    -addext "subjectAltName = IP:${api%:*}" -keyout "$WORK/api.key" -out "$account/ca.crt" 2>/dev/null
  echo token >"$account/token"
}

api_url() { if [ "$thick" ]; then echo "https://$api"; else echo "http://$api"; fi; }

pod_file() { echo "$objects/api/v1/namespaces/default/pods/$1"; } # POD
network_file() { echo "$objects/apis/k8s.cni.cncf.io/v1/namespaces/default/network-attachment-definitions/$1"; } # NAME

pod() { # POD NETWORKS [DEFAULT-NETWORK]: as its annotations have them
  mkdir -p "$(dirname "$(pod_file "$1")")"
  jq -n --arg name "$1" --arg networks "$2" --arg default "${3:-}" '{apiVersion: "v1", kind: "Pod", metadata: {$name,
    namespace: "default", uid: "uid-of-\($name)", annotations: ({"k8s.v1.cni.cncf.io/networks": $networks,
    "v1.multus-cni.io/default-network": $default} | with_entries(select(.value != "")))}}' >"$(pod_file "$1")"
}

# A network of VFs of a resource, changed by a jq filter, in a subnet of its own: 10.NUMBER.0.0/24.
network() { # NAME RESOURCE NUMBER FILTER
  mkdir -p "$(dirname "$(network_file "$1")")"
  jq -n --arg name "$1" --arg resource "$2" --arg subnet "10.$3.0.0/24" --arg leases "$WORK/leases" '
    {cniVersion: "1.0.0", type: "ib-sriov", rdmaIsolation: true, capabilities: {CNIDeviceInfoFile: true},
      ipam: {type: "host-local", $subnet, dataDir: $leases}} | ('"$4"') | tojson |
    {apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition", spec: {config: .}, metadata: {$name,
      namespace: "default", annotations: {"k8s.v1.cni.cncf.io/resourceName": $resource}}}' >"$(network_file "$1")"
}

# Gives a device to a pod, in addition to those that the kubelet has given already.
give() { # POD RESOURCE DEVICE...
  jq --arg uid "uid-of-$1" --arg resource "$2" '.Data.PodDeviceEntries += [{PodUID: $uid, ContainerName: "c",
    ResourceName: $resource, DeviceIDs: {"0": $ARGS.positional}}]' --args "${@:3}" \
    <"$kubelet/kubelet_internal_checkpoint" >"$WORK/checkpoint"
  mv "$WORK/checkpoint" "$kubelet/kubelet_internal_checkpoint"
}
take_all() { # POD: it has gone
  jq --arg uid "uid-of-$1" '.Data.PodDeviceEntries |= map(select(.PodUID != $uid))' \
    <"$kubelet/kubelet_internal_checkpoint" >"$WORK/checkpoint"
  mv "$WORK/checkpoint" "$kubelet/kubelet_internal_checkpoint"
}

multus() { # VERB POD
  # A daemon keeps copies of pods and networks: it has heard of all that the case has changed.
  if [ "${MULTUS:-}" ] && [ "$thick" ]; then curl -sfk "$(api_url)/synced" >/dev/null; fi
  cni "$1" "$2" eth0 <"$WORK/multus"
}
multus_must() { # VERB POD
  multus "$@"
  [ "$rc" = 0 ] || fail "$1 $2: $(jq -r .msg <<<"$out")"
}

# The status of one of the pod's networks.
network_status() { # POD INTERFACE FILTER
  jq -r '.metadata.annotations."k8s.v1.cni.cncf.io/network-status"' "$(pod_file "$1")" |
    jq -r --arg interface "$2" ".[] | select(.interface == \$interface) | $3"
}
