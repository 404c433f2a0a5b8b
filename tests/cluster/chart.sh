#!/usr/bin/env bash
# The Helm chart: lint, the same objects as the kustomize base, refused values, and the commands of docs/helm.md against a real
# API server. No VM, no node.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/tests/tools.sh"
. "$root/tests/cluster/build.sh"
. "$root/tests/cluster/api_server.sh"
. "$root/tests/cluster/checks.sh"
isolate build_api_server build_chart_tools
chart=$root/charts/ibpod
export HELM_CACHE_HOME HELM_CONFIG_HOME HELM_DATA_HOME

template() { helm template ibpod "$chart" --namespace ibpod --kube-version "${kubernetes#v}" "$@"; } # OPTION...
same() { /usr/bin/python3 -B "$root/tests/cluster/same_objects.py" "$@"; }                             # FILE FILE [KIND...]

# Everything that the chart can make.
everything=(--set sm.enabled=true --set sm.keysSecret=keys --set networkPolicy=true --set monitoring.rules=true
  --set monitoring.podMonitor=true --set-json 'monitoring.labels={"release":"prometheus"}'
  --set-json 'imagePullSecrets=[{"name":"registry"}]' --set agent.image.pullPolicy=Always --set sm.state.storageClass=fast
  --set certManager.enabled=true --set certManager.issuer.name=ca --set-json 'certManager.dnsNames=["sm.example.com"]')

write_inputs() {
  echo '{"metricsAddress": ":9464"}' >"$work/agent.json"
  echo '{"metricsAddress": "0.0.0.0:9465"}' >"$work/sm.json"
  everything+=(--set-file "agent.config=$work/agent.json" --set-file "sm.config=$work/sm.json")
}

equals_base() {
  kubectl kustomize "$root/manifests/base" >"$work/base.yaml"
  template "$@" >"$work/chart.yaml"
  same "$work/base.yaml" "$work/chart.yaml" Namespace
}

kinds() { template "${everything[@]}" | sed -n 's/^kind: //p' | sort | uniq -c | awk '{print $1 $2}' | xargs; }

of_kind() { # KIND FILE: its objects, one after the other
  awk -v kind="kind: $1" -v RS='---\n' 'index($0, kind "\n") {printf "---\n%s", $0}' "$2"
}

# Kinds of operators are unknown to this server.
all_judged() {
  local kind
  template "${everything[@]}" >"$work/all.yaml"
  for kind in ServiceAccount ConfigMap DaemonSet StatefulSet NetworkPolicy; do
    of_kind "$kind" "$work/all.yaml" >"$work/kind.yaml"
    grep -q . "$work/kind.yaml" || { echo "no $kind"; return 1; }
    judged "$work/kind.yaml" || return
  done
}

# A pod of the StatefulSet, as its controller would make it, with the volume of the node.
sm_pod() {
  template --set sm.enabled=true --set-file "sm.config=$work/sm.json" --set sm.tlsSecret=tls >"$work/sm.yaml"
  of_kind StatefulSet "$work/sm.yaml" | kubectl create --dry-run=client --output json --filename - |
    jq '.spec.template + {apiVersion: "v1", kind: "Pod"} | .metadata += {name: "sm", namespace: "ibpod"}' >"$work/pod.json"
  judged "$work/pod.json"
}

rules_are_right() {
  template --set monitoring.rules=true --show-only templates/monitoring.yaml | sed '1,/^spec:$/d; s/^  //' >"$work/rules.yaml"
  promtool check rules "$work/rules.yaml" "$chart/files/alerts.yaml"
}

# As the documents' reader would: in a copy of the sources, with the files that other pages make.
run_page() (
  mkdir "$work/page"
  cp -r "$root/charts" "$root/manifests" "$work/page/"
  awk -v place="host tests/cluster/chart.sh" -f "$root/tests/blocks.awk" "$root/docs/helm.md" >"$work/page.sh"
  grep -q 'helm install' "$work/page.sh" || return
  cd "$work/page"
  echo '{}' >sm.json
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=ibpod-sm -keyout sm.key -out sm.crt 2>/dev/null
  cp sm.crt ca.crt
  bash -euxo pipefail "$work/page.sh"
)

left_over() {
  expect "$(kubectl --namespace ibpod get daemonset,statefulset,configmap,serviceaccount --output name |
    grep -v -e kube-root-ca -e serviceaccount/default | xargs)" ""
}

start_judge
HELM_CACHE_HOME=$work/helm HELM_CONFIG_HOME=$work/helm HELM_DATA_HOME=$work/helm
write_inputs

check "helm lint" helm lint --strict "$chart"
check "helm lint of everything" helm lint --strict "$chart" "${everything[@]}"
check "it is the kustomize base" equals_base
check "a changed value makes a difference" refused '*maxUnavailable*' equals_base --set agent.maxUnavailable=1
check "everything that it can make" expect "$(kinds)" \
  "1Certificate 2ConfigMap 1DaemonSet 1NetworkPolicy 2PodMonitor 1PrometheusRule 2ServiceAccount 1StatefulSet"
check "the alerts are rules of Prometheus" rules_are_right

check "refused: an unknown value" refused "*agnet*" template --set agnet.config=x
check "refused: an identity that there is not" refused "*agent*identity*certificates*" template --set agent.identity=tokens
check "refused: a string in place of true" refused "*sm*enabled*" template --set-string sm.enabled=yes
check "refused: no update at all" refused "*maxUnavailable*" template --set agent.maxUnavailable=0
check "refused: a relative folder" refused "*hostPath*" template --set sm.state.hostPath=state
check "refused: ibpod-sm without a configuration" refused "*sm.config: expected*" template --set sm.enabled=true
check "refused: a certificate of no issuer" refused "*certManager.issuer.name: expected*" \
  template "${everything[@]}" --set certManager.issuer.name=
check "refused: a certificate of no name" refused "*certManager.dnsNames: expected*" \
  template "${everything[@]}" --set-json 'certManager.dnsNames=[]'
check "refused: a certificate of nothing" refused "*expected sm.enabled*" template "${everything[@]}" --set sm.enabled=false
check "refused: a monitor of agents that answer on the loopback" refused '*"metricsAddress": ":9464"*' \
  template --set monitoring.podMonitor=true
check "refused: a monitor of an ibpod-sm that does" refused '*"metricsAddress": "0.0.0.0:9465"*' \
  template "${everything[@]}" --set-literal sm.config=x

check "the namespace" apply "$root/manifests/base/namespace.yaml"
check "the server takes everything of it" all_judged
check "the server takes the pod of ibpod-sm" sm_pod
check "docs/helm.md" run_page
check "nothing is left" left_over
end_checks
