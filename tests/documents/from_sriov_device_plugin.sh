#!/usr/bin/env bash
# The commands of docs/from-sriov-device-plugin.md as they are written, in a folder of their own: jq, ibpod-agent --check-config,
# ibpodctl and ib-sriov do their work, the cluster is a stand-in. Each converted network is one that ib-sriov accepts.
#
#   from_sriov_device_plugin.sh FOLDER    FOLDER: of the programs
# shellcheck disable=SC2016,SC2317
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/page.sh"
export NODE=n1 RESOURCES='["mlnx_sriov_rdma_ib", "ib_vfio"]'

# --- the site ------------------------------------------------------------------------------------------------------------

make_site() {
  jq -n '{apiVersion: "v1", kind: "ConfigMap", metadata: {name: "sriovdp-config", namespace: "kube-system"}, data: {"config.json": ({
    resourceList: [
      {resourceName: "intel_sriov_netdevice", selectors: {vendors: ["8086"], drivers: ["iavf"]}},
      {resourcePrefix: "mellanox.com", resourceName: "mlnx_sriov_rdma_ib",
       selectors: {vendors: ["15b3"], devices: ["101e"], drivers: ["mlx5_core"], pfNames: ["ib0#0-3", "ib1"], isRdma: true}},
      {resourceName: "ib_vfio", excludeTopology: true, selectors: [{vendors: ["15b3"], drivers: ["vfio-pci"]}]}]} | tojson)}}' \
    >"$work/configmap.json"
  jq -n '
    def network($name; $resource; $config): {apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition",
      metadata: {namespace: "team-a", name: $name, uid: "u", resourceVersion: "7", ownerReferences: [],
                 annotations: {"k8s.v1.cni.cncf.io/resourceName": $resource, "sriovnetwork.openshift.io/owner-ref": "x"}},
      spec: {config: ($config | tojson)}};
    {items: [
      network("ibnet"; "mellanox.com/mlnx_sriov_rdma_ib"; {cniVersion: "0.3.1", name: "sriov-network", type: "ib-sriov", pkey: "0x5",
        link_state: "enable", ibKubernetesEnabled: false, ipam: {type: "host-local", subnet: "10.56.217.0/24"}}),
      network("chain"; "intel.com/mlnx_sriov_rdma_ib"; {cniVersion: "1.0.0", name: "chain", plugins: [
        {type: "ib-sriov", link_state: "auto", ipam: {}}, {type: "rdma", args: {cni: {debug: true}}}, {type: "tuning", mtu: 2044}]}),
      network("rdma"; "intel.com/mlnx_sriov_rdma_ib"; {name: "rdma", plugins: [{type: "ib-sriov", pkey: "0x7"}, {type: "rdma"}]}),
      network("other"; "intel.com/intel_sriov_netdevice"; {name: "other", type: "sriov"})]}' >"$work/networks.json"
}

# --- stand-ins -----------------------------------------------------------------------------------------------------------

kubectl() {
  echo "kubectl $*" >>"$calls"
  case $* in
    "--namespace kube-system get configmap sriovdp-config --output json") cat "$work/configmap.json" ;;
    "get network-attachment-definitions --all-namespaces --output json") cat "$work/networks.json" ;;
    "--namespace kube-system patch daemonset "*" --patch-file leave.yaml") ;;
    "drain n1 "* | "label node n1 ibpod.io/infiniband=true" | "uncordon n1" | "--namespace kube-system wait pod --for delete "*) ;;
    "--namespace ibpod get pod "*" --output name") echo pod/ibpod-agent-x ;;
    "--namespace ibpod exec pod/ibpod-agent-x -- ibpodctl "*) parsed_by_ibpodctl "${@:7}" ;;
    "--namespace ibpod exec pod/ibpod-agent-x -- /opt/cni/bin/ib-sriov --version") "$programs/ib-sriov" --version 2>&1 ;;
    "apply --filename networks.json") ;;
    *) fail "kubectl $*" ;;
  esac
}
ibpod-agent() { "$programs/ibpod-agent" "$@"; }

# --- what has been made --------------------------------------------------------------------------------------------------

# The first plugin of a network, as a runtime calls it. The pod's namespace does not exist: a plugin that knows the whole
# configuration says so (3), before it does anything.
expect_accepted() { # CONFIG
  local said
  said=$(jq '(.plugins // [.])[0] + {cniVersion, name, deviceID: "0000:3b:00.2"}' <<<"$1" |
    CNI_COMMAND=ADD CNI_CONTAINERID=c CNI_IFNAME=net1 CNI_NETNS=/run/netns/of-no-pod CNI_PATH=/opt/cni/bin \
      CNI_ARGS="K8S_POD_NAMESPACE=team-a;K8S_POD_NAME=p" IBPOD_STATE_DIR="$work/state" "$programs/ib-sriov" 2>"$work/log") || true
  expect_eq "ADD with $1: $said" "$(jq .code <<<"$said")" 3
  if grep 'is unknown and ignored' "$work/log"; then fail "ib-sriov does not know all of $1"; fi
}

config_of() { jq -r --arg name "$1" '.items[] | select(.metadata.name == $name) | .spec.config' networks.json; } # NETWORK

check_networks() {
  local name
  jq -r '.items[] | "\(.metadata.namespace)/\(.metadata.name) \(.metadata.annotations | to_entries[] | .value)"' networks.json |
    expect_eq "the networks" "$(cat)" "team-a/ibnet-ibpod ibpod.io/mlnx_sriov_rdma_ib"
  expect_eq "ibnet" "$(config_of ibnet-ibpod | jq -Sc .)" '{"cniVersion":"0.3.1","ibKubernetesEnabled":false,"ipam":{"subnet":"10.56.217.0/24",'"\
"'"type":"host-local"},"link_state":"enable","name":"ibnet-ibpod","partition":"training","type":"ib-sriov"}'
  # The others by the same filter, without ibpod-sm, too.
  echo '{"team-a/ibnet": null, "team-a/chain": "training", "team-a/rdma": null}' >partitions.json
  jq --slurpfile partitions partitions.json -f networks.jq before/networks.json >networks.json
  expect_eq "chain" "$(config_of chain-ibpod | jq -Sc .plugins)" '[{"ipam":{},"link_state":"auto","partition":"training",'"\
"'"rdmaIsolation":true,"type":"ib-sriov"},{"mtu":2044,"type":"tuning"}]'
  expect_eq "rdma" "$(config_of rdma-ibpod | jq -Sc .)" '{"cniVersion":"1.0.0","name":"rdma-ibpod","pkey":"0x7","rdmaIsolation":true,"type":"ib-sriov"}'
  for name in ibnet chain rdma; do expect_accepted "$(config_of "$name-ibpod")"; done
}

mkdir "$work/admin"
make_site
cd "$work/admin"
run_page docs/from-sriov-device-plugin.md "host tests/documents/from_sriov_device_plugin.sh"
agent_accepts agent.json
expect_eq "the pools" "$(jq -c '[.resourceList[] | .resourceName, .resourcePrefix]' agent.json)" \
  '["mlnx_sriov_rdma_ib",null,"ib_vfio",null]'
expect_eq "the first pool" "$(jq -Sc '.resourceList[0].selectors' agent.json)" \
  '{"devices":["101e"],"drivers":["mlx5_core"],"isRdma":true,"pfNames":["ib0#0-3","ib1"],"vendors":["15b3"]}'
expect_eq "DaemonSets that leave" "$(grep -c ' patch daemonset ' "$calls")" 3
grep -q "^ibpod ib-sriov" "$work/printed" || fail "the page does not show whose plugin it is"
check_networks
echo "the page's commands have run"
