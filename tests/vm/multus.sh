# Pods whose networks are called by Multus: the stand-in of tests/support/multus, or, where MULTUS names one, a real one.
# Pods and networks are objects in a folder, and what the kubelet would have given them is in its checkpoint. Sourced after
# lib.sh.
# shellcheck shell=bash disable=SC2016,SC2034
objects=$WORK/objects
plugin=multus
api=127.0.0.1:8001
kubelet=/var/lib/kubelet/device-plugins
device_info=/var/run/k8s.cni.cncf.io/devinfo

install_multus() {
  cp "${MULTUS:-$ROOT/build/release/tests/vm/multus}" "$IBPOD_BIN/multus"
  at_end rm -rf "$IBPOD_BIN/multus" "$device_info" /var/lib/kubelet /var/lib/cni
  mkdir -p "$kubelet" "$objects"
  echo '{"Data": {"PodDeviceEntries": []}}' >"$kubelet/kubelet_internal_checkpoint"
  # Each of the two takes no notice of where the other one looks for pods.
  jq -n --arg objects "$objects" --arg kubeconfig "$WORK/kubeconfig" --arg bin "$IBPOD_BIN" '{cniVersion: "1.0.0", name: "cluster",
    type: "multus", binDir: $bin, $objects, $kubeconfig,
    delegates: [{cniVersion: "1.0.0", name: "cluster", type: "loopback"}]}' >"$WORK/multus"
  if [ -n "${MULTUS:-}" ]; then serve_objects; fi
}

serve_objects() {
  jq -n --arg server "http://$api" '{apiVersion: "v1", kind: "Config", "current-context": "test",
    clusters: [{name: "test", cluster: {$server}}], users: [{name: "test"}],
    contexts: [{name: "test", context: {cluster: "test", user: "test"}}]}' >"$WORK/kubeconfig"
  python3 "$ROOT/tests/support/multus/api_server.py" "$objects" "$api" >"$WORK/api.log" 2>&1 &
  at_end kill $!
  wait_for 30 curl -s "http://$api/"
}

pod_file() { echo "$objects/api/v1/namespaces/default/pods/$1"; } # POD
network_file() { echo "$objects/apis/k8s.cni.cncf.io/v1/namespaces/default/network-attachment-definitions/$1"; } # NAME

pod() { # POD NETWORKS: as its annotation has them
  mkdir -p "$(dirname "$(pod_file "$1")")"
  jq -n --arg name "$1" --arg networks "$2" '{apiVersion: "v1", kind: "Pod", metadata: {$name, namespace: "default",
    uid: "uid-of-\($name)", annotations: {"k8s.v1.cni.cncf.io/networks": $networks}}}' >"$(pod_file "$1")"
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

# What the kubelet has given to a pod, beside what it has given already.
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

multus() { cni "$1" "$2" eth0 <"$WORK/multus"; } # VERB POD
multus_must() { # VERB POD
  multus "$@"
  [ "$rc" = 0 ] || fail "$1 $2: $(jq -r .msg <<<"$out")"
}

# One of the pod's networks as it is told of it; nothing of a real Multus, which tells an API server.
network_status() { # POD INTERFACE FILTER
  jq -r '.metadata.annotations."k8s.v1.cni.cncf.io/network-status"' "$(pod_file "$1")" |
    jq -r --arg interface "$2" ".[] | select(.interface == \$interface) | $3"
}
