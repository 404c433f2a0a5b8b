#!/usr/bin/env bash
# The Helm chart with a real API server: it judges every object, and the commands of docs/helm.md run. No VM, no node.
# tests/lanes/chart.sh has what needs no server.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/tests/tools.sh"
. "$root/tests/cluster/build.sh"
. "$root/tests/cluster/api_server.sh"
. "$root/tests/cluster/checks.sh"
. "$root/tests/cluster/chart_values.sh"
isolate build_api_server build_chart_tools

# Kinds of operators are unknown to this server.
all_judged() { # OPTION...
  local kind
  template "$@" >"$work/all.yaml"
  for kind in ServiceAccount ConfigMap DaemonSet StatefulSet; do
    of_kind "$kind" "$work/all.yaml" >"$work/kind.yaml"
    grep -q . "$work/kind.yaml" || { echo "no $kind"; return 1; }
    judged "$work/kind.yaml" || return
  done
  for kind in Secret NetworkPolicy; do
    of_kind "$kind" "$work/all.yaml" >"$work/kind.yaml"
    if grep -q . "$work/kind.yaml"; then judged "$work/kind.yaml" || return; fi
  done
}

# A pod of the StatefulSet, as its controller would make it, with the volume of the node.
sm_pod() { # OPTION...
  template "$@" >"$work/sm.yaml"
  of_kind StatefulSet "$work/sm.yaml" | kubectl create --dry-run=client --output json --filename - |
    jq '.spec.template + {apiVersion: "v1", kind: "Pod"} | .metadata += {name: "sm", namespace: "ibpod"}' >"$work/pod.json"
  judged "$work/pod.json"
}

# As the documents' reader would: in a copy of the sources, with the files that other pages make.
run_page() (
  mkdir "$work/page"
  cp -r "$root/charts" "$root/manifests" "$work/page/"
  awk -v place="host tests/cluster/chart.sh" -f "$root/tests/blocks.awk" "$root/docs/helm.md" >"$work/page.sh"
  grep -q 'helm install' "$work/page.sh" || return
  cd "$work/page"
  bash -euxo pipefail "$work/page.sh"
)

left_over() {
  expect "$(kubectl --namespace ibpod get daemonset,statefulset,configmap,secret,serviceaccount --output name |
    grep -v -e kube-root-ca -e serviceaccount/default | xargs)" "$1"
}

# --- the certificate that the chart makes -------------------------------------------------------------------------------

release() { helm "$1" ibpod "$chart" --namespace ibpod "${tokens[@]}" "${@:2}"; } # install|upgrade OPTION...

pair() { # a digest of the certificate of ibpod-sm, its key, and the CA that agents have
  {
    kubectl --namespace ibpod get secret/ibpod-sm-generated-tls --output jsonpath='{.data}' &&
      kubectl --namespace ibpod get configmap/ibpod-sm-ca --output jsonpath='{.data}'
  } | sha256sum
}

check_certificate() {
  local first second
  check "install" release install
  first=$(pair)
  check_accounts
  check "upgrade" release upgrade --set agent.maxUnavailable=2
  check "an upgrade keeps the certificate" expect "$(pair)" "$first"
  check "upgrade to another name" release upgrade --set sm.names[0]=sm2.example.com
  second=$(pair)
  check "another name gets another certificate" refused "*" expect "$second" "$first"
  check "rollback" helm rollback ibpod 1 --namespace ibpod
  check "a rollback has the first certificate and its CA" expect "$(pair)" "$first"
  check "uninstall" helm uninstall ibpod --namespace ibpod
  check "no key is left" left_over ""
}

# --- what the accounts may -----------------------------------------------------------------------------------------------

token_of() { kubectl --namespace ibpod create token "$@"; } # ACCOUNT [OPTION...]

status_of_keys() { # TOKEN: of an HTTP answer
  curl -sk -o "$work/keys" -w '%{http_code}' -H @- "https://192.0.2.1:$api_port/openid/v1/jwks" <<<"Authorization: Bearer $1"
}

# By a binding that the API server makes by itself.
check_accounts() {
  check "a token of ibpod-sm opens the keys" expect "$(status_of_keys "$(token_of ibpod-sm)")" 200
  check "they are keys" jq -e '.keys | length == 1' "$work/keys"
  check "a token of an agent opens nothing" expect "$(status_of_keys "$(token_of ibpod-agent --audience ibpod-sm)")" 401
  check "no token opens nothing" expect "$(status_of_keys none)" 401
}

start_judge --allow-privileged # as kubeadm has it
write_inputs
check "the namespace" apply "$root/manifests/base/namespace.yaml"
check "the server takes everything of it" all_judged "${everything[@]}"
check "the server takes its own certificate" all_judged "${tokens[@]}"
check "the server takes the pod of ibpod-sm" sm_pod "${tokens[@]}"
check "the server takes the pod of ibpod-sm with certificates" sm_pod "${certificates[@]}"
check_certificate
check "docs/helm.md" run_page
check "nothing is left but the keys of the fabric" left_over "secret/ibpod-sm-keys"
end_checks
