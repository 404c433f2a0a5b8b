#!/usr/bin/env bash
# The commands of docs/from-sriov-operator.md as they are written, in a folder of their own: jq and ibpod-agent --check-config
# do their work, the cluster is a stand-in.
#
#   from_sriov_operator.sh FOLDER    FOLDER: of the programs
# shellcheck disable=SC2016,SC2317
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/page.sh"
export NODE=n1 OPERATOR=network-operator OLD_NODES=rail=1

# --- the site ------------------------------------------------------------------------------------------------------------

make_site() {
  jq -n '
    def policy($name; $spec): {kind: "SriovNetworkNodePolicy", metadata: {$name}, spec: $spec};
    {items: [
      policy("default"; {resourceName: "", numVfs: 0, nodeSelector: {}, nicSelector: {}}),
      policy("all-cx6"; {resourceName: "mlnxnics", nodeSelector: {rail: "1"}, priority: 90, numVfs: 8, mtu: 1500, linkType: "ib",
        isRdma: true, deviceType: "netdevice", nicSelector: {vendor: "15b3", deviceID: "101b"}}),
      policy("some"; {resourceName: "mlnxnics", nodeSelector: {rail: "1"}, priority: 10, numVfs: 16, linkType: "IB", isRdma: true,
        excludeTopology: true, nicSelector: {vendor: "15b3", pfNames: ["ib0#0-7"]}}),
      policy("machines"; {resourceName: "ib_vfio", nodeSelector: {rail: "1"}, priority: 10, numVfs: 16, deviceType: "vfio-pci",
        linkType: "ib", nicSelector: {vendor: "15b3", pfNames: ["ib0#8-15"]}}),
      policy("no-link-type"; {resourceName: "by_address", nodeSelector: {}, numVfs: 4,
        nicSelector: {rootDevices: ["0000:5e:00.0"]}}),
      policy("ethernet"; {resourceName: "eth", nodeSelector: {rail: "1"}, numVfs: 4, linkType: "eth", nicSelector: {vendor: "15b3"}}),
      policy("of-others"; {resourceName: "others", nodeSelector: {rail: "2"}, numVfs: 4, linkType: "ib", nicSelector: {vendor: "15b3"}}),
      {kind: "SriovNetworkNodeState", metadata: {name: "n1"}, status: {syncStatus: "Succeeded"}},
      {kind: "SriovOperatorConfig", metadata: {name: "default"}, spec: {}}]}' >"$work/operator.json"
}

# --- stand-ins -----------------------------------------------------------------------------------------------------------

kubectl() {
  echo "kubectl $*" >>"$calls"
  case $* in
    "--namespace network-operator get sriovnetworknodepolicies,"*" --output json") cat "$work/operator.json" ;;
    "get network-attachment-definitions --all-namespaces --output json") echo '{"items": []}' ;;
    "get node n1 --output json") echo '{"metadata": {"name": "n1", "labels": {"rail": "1"}}}' ;;
    "--namespace network-operator patch sriovoperatorconfig default --type merge --patch "*) jq -c .spec <<<"${!#}" ;;
    "label node --selector rail=1 sriov-operator=here" | "label node n1 sriov-operator-" | "drain n1 "*) ;;
    "--namespace network-operator rollout status daemonset/sriov-network-config-daemon") ;;
    "--namespace network-operator wait pod --for delete "*) ;;
    *) fail "kubectl $*" ;;
  esac
}
ibpod-agent() { "$programs/ibpod-agent" "$@"; }

mkdir "$work/admin"
make_site
cd "$work/admin"
run_page docs/from-sriov-operator.md "host tests/documents/from_sriov_operator.sh"
agent_accepts agent.json
expect_eq "pfs" "$(jq -Sc .pfs agent.json)" '[{"numVfs":4,"rootDevices":["0000:5e:00.0"]},{"numVfs":16,"pfNames":["ib0"],"vendor":"15b3"},'"\
"'{"deviceID":"101b","numVfs":8,"vendor":"15b3"}]'
expect_eq "the pools" "$(jq -Sc .resourceList agent.json)" '[{"resourceName":"by_address","selectors":[{"isRdma":false,"linkTypes":["infiniband"],'"\
"'"rootDevices":["0000:5e:00.0"]}]},{"resourceName":"ib_vfio","selectors":[{"drivers":["vfio-pci"],"pfNames":["ib0#8-15"],"vendors":["15b3"]}]},'"\
"'{"excludeTopology":true,"resourceName":"mlnxnics","selectors":[{"isRdma":true,"linkTypes":["infiniband"],"pfNames":["ib0#0-7"],"vendors":["15b3"]},'"\
"'{"isRdma":true,"linkTypes":["infiniband"],"vendors":["15b3"]}]}]'
grep -qxF "n1 Succeeded" "$work/printed" || fail "the page does not show the states of the nodes"
expect_eq "the operator's nodes" "$(grep configDaemon "$work/printed")" '{"configDaemonNodeSelector":{"sriov-operator":"here"}}'
echo "the page's commands have run"
