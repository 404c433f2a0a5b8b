#!/bin/bash
# The commands of operations.md and manifests.md as they stand there, in a cluster: kubectl's, too, with the agent as a pod.
# deadline: 1800
# machine: cluster
# shellcheck disable=SC2016
. "$ROOT/tests/vm/documents.sh"
. "$ROOT/tests/cluster/cluster.sh"
export REGISTRY=registry.example.com
# shellcheck disable=SC2034,SC2153 # for node.sh
node=$NODE

elsewhere() { :; } # those that are for the place where it is built

# The promised effect of a command is checked after it.
kubectl() {
  command kubectl "$@" || return
  case $* in
    *" rollout status daemonset/ibpod-agent") expect_plugins_seen ;;
    *" rollout status statefulset/web") expect_in_partition ;;
    "drain "*) wait_for 60 has_no_attachment ;;
  esac
}

has_no_attachment() { [ -z "$(find "$records" -name '*.json')" ] && [ "$(ibpodctl --json binding list)" = "[]" ]; }

# By who looks from within the agent's pod.
expect_plugins_seen() {
  local agent found
  agent=$(command kubectl --namespace ibpod get pod --selector app.kubernetes.io/component=agent --output name)
  found=$(command kubectl --namespace ibpod exec "$agent" -- ibpodctl --json doctor --all || true)
  expect_eq "the plugins" "$(jq -r '.[] | select(.check | startswith("/opt/cni/bin/")) | .grade' <<<"$found" | xargs)" "ok ok"
}

# Those of earlier tries of the pod go by themselves.
has_binding() { # POD "STATE PROOF NAMESPACE"
  [ "$(ibpodctl --json binding list | jq -r --arg name "$1" '.[] |
    select(.pod.name == $name) | "\(.state) \(.proof) \(.pod.namespace)"')" = "$2" ]
}

expect_in_partition() {
  local pod pkey
  pkey=$(ibpodctl --json partition get training | jq -r .pkey)
  for pod in web-0 web-1; do
    wait_for 60 has_binding "$pod" "verified port team-a"
    expect_match "P_Keys of $pod" "$(pkeys "$(netns_of_pod team-a "$pod")" "$(of_pod team-a "$pod" .device)")" \
      "0:$(printf 0x%04x $((pkey | 0x8000)))*"
  done
}

prepare_documents
start_cluster
run_document docs/manifests.md "(vm|cluster)"
run_document docs/operations.md "(vm|cluster)"
