#!/usr/bin/env bash
# Renders the manifests with kustomize and has a real API server judge every object of them, by a server-side dry run.
# No VM, no node: etcd and an API server run on this machine, in a network namespace of their own.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/tests/tools.sh"
. "$root/tests/cluster/build.sh"
. "$root/tests/cluster/api_server.sh"
. "$root/tests/cluster/checks.sh"
isolate build_api_server

# Into a folder, each object in a file of its own, as KIND-NAME.
render() { # FOLDER OF-MANIFESTS
  mkdir -p "$work/$2"
  kubectl kustomize "$1" >"$work/$2/all"
  awk -v folder="$work/$2" '
    function keep() {if (kind != "") printf "%s", text >(folder "/" kind "-" name ".yaml"); text = kind = name = ""}
    /^---$/ {keep(); next}
    {text = text $0 "\n"}
    /^kind: / {kind = $2}
    /^  name: / && name == "" {name = $2}
    END {keep()}' "$work/$2/all"
}

check_set() { # FOLDER-BELOW-manifests GLOB-OF-OBJECTS
  local name=${1//\//-} file
  check "$1 renders" render "$root/manifests/$1" "$name"
  for file in "$work/$name"/*.yaml; do check "$1: $(basename "$file" .yaml)" judged "$file"; done
  check "$1 has all objects" expect "$(cd "$work/$name" && echo *.yaml)" "$2"
}

# A pod of the DaemonSet, as its controller would make it: pods are judged by more than templates are.
pod_of() { # SET
  kubectl create --dry-run=client --output json --filename "$work/$1/DaemonSet-ibpod-agent.yaml" |
    jq '.spec.template + {apiVersion: "v1", kind: "Pod"} | .metadata += {name: "agent", namespace: "ibpod"}' >"$work/$1/pod.json"
  judged "$work/$1/pod.json"
}

init_containers() { jq -r '[.spec.initContainers[].name] | join(" ")' "$work/$1/pod.json"; } # SET

unknown_field() {
  sed 's/hostPID:/hostPid:/' "$work/base/DaemonSet-ibpod-agent.yaml" >"$work/wrong.yaml"
  refused '*hostPid*' judged "$work/wrong.yaml"
}

no_privileges() {
  kubectl create --dry-run=client --output json --filename "$work/base/DaemonSet-ibpod-agent.yaml" |
    jq -e '[.spec.template.spec | (.initContainers + .containers)[].securityContext |
      (.privileged != true) and .allowPrivilegeEscalation == false and .capabilities.drop == ["ALL"]] | all'
}

start_judge

check "the kind of Multus' networks" apply "$root/tests/cluster/network_attachment_definition.yaml"
check "it is established" kubectl wait --for condition=Established --timeout 60s \
  crd/network-attachment-definitions.k8s.cni.cncf.io
# Objects in a namespace are checked only if the namespace exists.
check "the namespace" apply "$root/manifests/base/namespace.yaml"
check_set base "ConfigMap-ibpod-agent.yaml DaemonSet-ibpod-agent.yaml Namespace-ibpod.yaml ServiceAccount-ibpod-agent.yaml"
check "base: its pod" pod_of base
check "base: an unknown field is refused" unknown_field
check "base: no container is privileged" no_privileges
check_set overlays/direct \
  "ConfigMap-ibpod-agent.yaml ConfigMap-ibpod-cni-*.yaml DaemonSet-ibpod-agent.yaml Namespace-ibpod.yaml ServiceAccount-ibpod-agent.yaml"
check "overlays/direct: its pod" pod_of overlays-direct
check "overlays/direct: programs before what names them" \
  expect "$(init_containers overlays-direct)" "install install-configuration"
check "overlays/direct: the name of its configuration changes with the content" \
  expect "$(jq -r '.spec.volumes[] | select(.name == "cni-configuration").configMap.name' "$work/overlays-direct/pod.json")" "ibpod-cni-*"
check_set examples "NetworkAttachmentDefinition-ibnet.yaml Pod-worker.yaml"

agent=$root/build/release/bin/ibpod-agent
if [ -x "$agent" ]; then
  check "the agent takes its configuration" "$agent" --check-config --config "$root/manifests/base/agent.json" --node node1
else
  skip "the agent takes its configuration" "it is not built (./check builds it)"
fi

end_checks
