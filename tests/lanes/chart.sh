#!/usr/bin/env bash
# The Helm chart without a cluster: its lint, what each value changes, refused values, the certificates that it makes.
# shellcheck disable=SC2016
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/tests/tools.sh"
. "$root/tests/cluster/build.sh"
. "$root/tests/cluster/checks.sh"
. "$root/tests/cluster/chart_values.sh"
mkdir -p "$cluster"
install_packages chart
(choose_go; build_chart_tools)
PATH=$cluster_path:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
programs=$root/build/release/bin
with_sm="ConfigMap ConfigMap ConfigMap DaemonSet Secret ServiceAccount ServiceAccount StatefulSet"

same() { /usr/bin/python3 -B "$root/tests/cluster/same_objects.py" "$@"; } # FILE FILE [KIND...]

render() { # FILE OPTION...
  template "${@:2}" >"$work/$1.yaml"
}

# jq's answer about an object of a file that render() has made.
ask() { # FILE KIND NAME JQ-OPTION...
  /usr/bin/python3 -B "$root/tests/cluster/rendered.py" "$work/$1.yaml" "$2" "$3" >"$work/object.json" || return
  jq -r "${@:4}" "$work/object.json"
}

holds() { # FILE KIND NAME JQ-OPTION... JQ-CONDITION
  ask "$1" "$2" "$3" -e "${@:4}"
}

equals_base() { # OPTION...
  kustomize build "$root/manifests/base" >"$work/base.yaml"
  render chart "$@"
  same "$work/base.yaml" "$work/chart.yaml" Namespace
}

objects() { # FILE
  sed -n 's/^kind: //p' "$work/$1.yaml" | sort | uniq -c | awk '{print $1 $2}' | xargs
}

rules_are_right() {
  template --set monitoring.rules=true --show-only templates/monitoring.yaml | sed '1,/^spec:$/d; s/^  //' >"$work/rules.yaml"
  promtool check rules "$work/rules.yaml" "$chart/files/alerts.yaml"
}

# --- each value once ------------------------------------------------------------------------------------------------------

# True if a line of an added or changed object has what the value changes.
changes() { # GLOB OPTION...
  render changed "${@:2}"
  expect "$(diff "$work/tokens.yaml" "$work/changed.yaml" | grep '^>')" "*$1*"
}

check_values() {
  local value glob
  while read -r value glob; do
    check "$value" changes "$glob" "${tokens[@]}" --set "$value"
  done <<'END'
imagePullSecrets[0].name=registry name: registry
architectures[0]=arm64 - arm64
agent.image.repository=r.example.com/agent image: r.example.com/agent:
agent.image.tag=main image: ibpod/agent:main
agent.image.pullPolicy=Never imagePullPolicy: Never
agent.nodeSelector.rack=r1 rack: r1
agent.maxUnavailable=3 maxUnavailable: 3
agent.resources.limits.memory=1Gi memory: 1Gi
sm.image.repository=r.example.com/sm image: r.example.com/sm:
sm.image.tag=main image: ibpod/sm:main
sm.image.pullPolicy=Never imagePullPolicy: Never
sm.address=192.0.2.7:7474 192.0.2.7:7474
sm.address=[2001:db8::7]:7474 [[]::]:7474
sm.names[0]=ibpod-sm.example.com ibpod-sm.example.com sm.example.com
sm.issuer=https://issuer.example.com https://issuer.example.com
sm.audience=ibpod-sm.dev ibpod-sm.dev
sm.keysSecret=keys name: keys
sm.nodeSelector.rack=r1 rack: r1
sm.tolerations[0].operator=Exists operator: Exists
sm.resources.requests.cpu=2 cpu: 2
sm.state.hostPath=/srv/sm path: /srv/sm
sm.state.storageClass=fast storageClassName: fast
monitoring.rules=true kind: PrometheusRule
networkPolicy=true kind: NetworkPolicy
END
}

# --- the base on nodes of both architectures ------------------------------------------------------------------------------

# The patch of docs/manifests.md.
patches_architectures() {
  mkdir -p "$work/overlay"
  cp -r "$root/manifests/base" "$work/overlay/base"
  { echo 'resources: [base]'; echo 'patches:'; sed -n '/^## Nodes with arm64$/,/^## /{/^```yaml$/,/^```$/{/^```/d; p}}' \
    "$root/docs/manifests.md"; } >"$work/overlay/kustomization.yaml"
  kustomize build "$work/overlay" >"$work/overlay.yaml"
  holds overlay DaemonSet ibpod-agent '.spec.template.spec.affinity.nodeAffinity | .[].nodeSelectorTerms ==
    [{"matchExpressions": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64", "arm64"]}]}]'
}

# --- tokens -----------------------------------------------------------------------------------------------------------------

# The certificate is for the host, and the agents have its CA.
certificate_is_right() { # FILE OPTION-OF-OPENSSL HOST
  local file
  for file in ca.crt tls.crt tls.key; do
    ask "$1" Secret ibpod-sm-generated-tls --arg file "$file" '.data[$file]' | base64 -d >"$work/$file.made" || return
  done
  ask "$1" ConfigMap ibpod-sm-ca '.data["ca.crt"]' >"$work/ca.agents"
  diff -B "$work/ca.crt.made" "$work/ca.agents" || return
  cmp <(openssl x509 -in "$work/tls.crt.made" -noout -pubkey) <(openssl pkey -in "$work/tls.key.made" -pubout) || return
  openssl verify -purpose sslserver -x509_strict -CAfile "$work/ca.agents" "$2" "$3" "$work/tls.crt.made"
}

has_one_private_key() { # FILE
  ask "$1" Secret ibpod-sm-generated-tls '.data[]' | while read -r one; do base64 -d <<<"$one"; done >"$work/decoded"
  expect "$(grep -h 'PRIVATE KEY' "$work/$1.yaml" "$work/decoded" | xargs)" "-----BEGIN EC PRIVATE KEY----- -----END EC PRIVATE KEY-----"
}

comments_go() {
  cat >"$work/comments.json" <<'END'
// "a": 1
{"url": "https://x//y", /* "b": "*\/" // */ "quote\"//": "/* \\", "c": [1,/**/2] // }
}
END
  render comments "${tokens[@]}" --set-file "agent.config=$work/comments.json"
  holds comments ConfigMap ibpod-agent '.data["agent.json"] | fromjson | del(.fabrics) ==
    {"url": "https://x//y", "quote\"//": "/* \\", "c": [1, 2]}'
}

# By the program itself; the path is a file's, so no pipe.
accepts() { # PROGRAM FILE CONFIGMAP KEY OPTION...
  ask "$2" ConfigMap "$3" --arg key "$4" '.data[$key]' >"$work/$4"
  "$programs/$1" --check-config --config "$work/$4" "${@:5}"
}

check_programs() {
  local set
  if [ ! -x "$programs/ibpod-sm" ] || [ ! -x "$programs/ibpod-agent" ]; then
    skip "the programs accept the configurations" "they are not built (./check builds them)"
    return
  fi
  for set in tokens certificates; do
    check "ibpod-sm accepts its configuration: $set" accepts ibpod-sm "$set" ibpod-sm sm.json
    check "the agent accepts its configuration: $set" accepts ibpod-agent "$set" ibpod-agent agent.json --node node1
  done
  check "the agent accepts its configuration: everything" accepts ibpod-agent everything ibpod-agent agent.json --node node1
}

check_tokens() {
  check "a token for ibpod-sm, and its CA" holds tokens DaemonSet ibpod-agent '.spec.template.spec.volumes[] |
    select(.name == "sm-access").projected.sources == [
      {"serviceAccountToken": {"audience": "ibpod-sm", "expirationSeconds": 3600, "path": "token"}},
      {"configMap": {"name": "ibpod-sm-ca"}}]'
  check "agents mount no Secret" holds tokens DaemonSet ibpod-agent '[.. | objects | has("secret")] | any | not'
  check "agents know ibpod-sm and their fabric" holds tokens ConfigMap ibpod-agent '.data["agent.json"] | fromjson.fabrics == [
    {"service": "sm.example.com:7473", "name": "east",
     "token": "/var/run/secrets/ibpod-sm/token", "ca": "/var/run/secrets/ibpod-sm/ca.crt"}]'
  check "ibpod-sm knows the agents' account" holds tokens ConfigMap ibpod-sm '.data["sm.json"] | fromjson.clusters[0] |
    .serviceAccounts == ["ibpod/ibpod-agent"] and .issuer == "https://kubernetes.default.svc.cluster.local"
    and .audience == "ibpod-sm"'
  check "ibpod-sm finds the API server by its name in the cluster" holds tokens StatefulSet ibpod-sm '.spec.template.spec |
    .hostNetwork and .automountServiceAccountToken and .dnsPolicy == "ClusterFirstWithHostNet"'
  check "what the texts have stays" holds everything ConfigMap ibpod-agent '.data["agent.json"] | fromjson |
    .metricsAddress == ":9464" and .logLevel == "debug"'
  check "comments, and what looks like them in strings" comments_go
  check "the certificate of a name" certificate_is_right tokens -verify_hostname sm.example.com
  check "the certificate of no other name" refused "*mismatch*" certificate_is_right tokens -verify_hostname other.example.com
  check "it renders: an address" render address "${tokens[@]}" --set 'sm.address=[2001:db8::7]:7474' --set 'sm.names={192.0.2.7,sm.example.com}'
  check "the certificate of an address" certificate_is_right address -verify_ip 2001:db8::7
  check "the certificate of another address" certificate_is_right address -verify_ip 192.0.2.7
  check "the certificate of an added name" certificate_is_right address -verify_hostname sm.example.com
  check "no private key but that of ibpod-sm" has_one_private_key tokens
  check "a CA of the user's" holds everything ConfigMap ibpod-sm-ca --rawfile ca "$work/ca.crt" '.data["ca.crt"] == $ca'
  check "it renders: an ibpod-sm outside" render outside --set sm.address=192.0.2.7:7474 --set-file "sm.ca=$work/ca.crt"
  check "an ibpod-sm outside" expect "$(objects outside)" "2ConfigMap 1DaemonSet 1ServiceAccount"
  check "its address" holds outside ConfigMap ibpod-agent '.data["agent.json"] | fromjson.fabrics[0].service == "192.0.2.7:7474"'
}

# Certificates: nothing of tokens.
check_certificates() {
  check "certificates: no token" holds certificates DaemonSet ibpod-agent '[.. | objects | has("serviceAccountToken")] | any | not'
  check "certificates: the user's text" holds certificates ConfigMap ibpod-sm --rawfile text "$work/sm.json" '.data["sm.json"] == $text'
  check "certificates: no access to the API server" holds certificates StatefulSet ibpod-sm '.spec.template.spec |
    .automountServiceAccountToken == false and has("dnsPolicy") == false'
  check "certificates: the objects" expect "$(objects certificates)" "2ConfigMap 1DaemonSet 2ServiceAccount 1StatefulSet"
}

# --- what is refused --------------------------------------------------------------------------------------------------------

check_refusals() {
  check "refused: an unknown value" refused "*agnet*" template --set agnet.config=x
  check "refused: a value that was removed" refused "*missing property 'certManager'*" template --set certManager=null
  check "refused: an architecture without images" refused "*architectures*'amd64', 'arm64'*" template --set 'architectures={riscv64}'
  check "refused: an identity that there is not" refused "*agent*identity*'tokens', 'certificates'*" template --set agent.identity=keys
  check "refused: a string in place of true" refused "*sm*enabled*boolean*" template --set-string sm.enabled=yes
  check "refused: no update at all" refused "*maxUnavailable*" template --set agent.maxUnavailable=0
  check "refused: a relative folder" refused "*hostPath*" template --set sm.state.hostPath=state
  check "refused: an address with a scheme" refused "*sm.address: expected HOST*" template "${tokens[@]}" --set sm.address=https://sm.example.com
  check "refused: an IPv6 address without brackets" refused "*sm.address: expected*in brackets*" template "${tokens[@]}" --set sm.address=2001:db8::7
  check "refused: an issuer that is no URL" refused "*sm*issuer*" template "${tokens[@]}" --set sm.issuer=kubernetes
  check "refused: a CA that is none" refused "*sm*ca*BEGIN CERTIFICATE*" template "${cert_manager[@]}" --set-literal sm.ca=ca.crt
  check "refused: a node of no label" refused "*nodeSelector*" template "${tokens[@]}" --set-json 'sm.nodeSelector={"node-restriction.kubernetes.io/ibpod-sm":null}'
  check "refused: ibpod-sm without a configuration" refused "*sm.config: expected*" template "${tokens[@]}" --set-literal sm.config=
  check "refused: a configuration that is no JSON" refused "*sm.config: expected a JSON object*" template "${tokens[@]}" --set-literal sm.config=sm.json
  check "refused: agents' that is none" refused "*agent.config: expected a JSON object*" template "${tokens[@]}" --set agent.config=agent.json
  check "refused: tokens for an ibpod-sm of no address" refused "*sm.address: expected*HOST:PORT*" template "${tokens[@]}" --set sm.address=
  check "refused: a CA beside the chart's" refused "*sm.ca: the chart makes a CA*" template "${tokens[@]}" --set-file "sm.ca=$work/ca.crt"
  check "refused: an ibpod-sm outside of no CA" refused "*sm.ca: expected*" template --set sm.address=sm.example.com
  check "refused: a Secret of no CA" refused "*sm.ca: expected*" template "${tokens[@]}" --set sm.tlsSecret=tls
  check "refused: a certificate of no name" refused "*sm.address, sm.names: expected*" \
    template "${certificates[@]}" --set certManager.issuer.name=ca
  check "refused: a certificate of nothing" refused "*expected sm.enabled*" template "${cert_manager[@]}" --set sm.enabled=false
  check "refused: a monitor of agents that answer on the loopback" refused '*"metricsAddress": ":9464"*' \
    template --set monitoring.podMonitor=true
  check "refused: a monitor of an ibpod-sm that does" refused '*"metricsAddress": "0.0.0.0:9465"*' \
    template "${everything[@]}" --set-literal 'sm.config={}'
}

# --- the documents ------------------------------------------------------------------------------------------------------

# The commands of a page, in one folder for all pages; an installation is only rendered.
run_page() { # PAGE PLACE
  awk -v place="$2" -f "$root/tests/blocks.awk" "$root/$1" >"$work/page.sh"
  grep -q 'helm \(install\|upgrade\)' "$work/page.sh" || return
  (cd "$work/page" && bash -euo pipefail -c '. "$0"; . "$1"' "$work/stand_ins.sh" "$work/page.sh")
}

write_stand_ins() {
  export NODE=node-1 SM_NODE=node-2 SM_HOST=sm.example.com REGISTRY=registry.example.com # of docs/operations.md
  mkdir "$work/page"
  cp -r "$root/charts" "$root/manifests" "$work/page/"
  cat >"$work/stand_ins.sh" <<'END'
kubectl() { echo "kubectl $*"; }
elsewhere() { echo "another test: $*"; }
helm() { # COMMAND...
  case $1 in
    install | upgrade)
      local options=("${@:2}")
      if [ "${options[0]}" = --install ]; then options=("${options[@]:1}"); fi
      command helm template "${options[@]}" --kube-version 1.36 >"installation.yaml"
      grep -c ^kind: installation.yaml
      ;;
    history | rollback | uninstall) echo "helm $*" ;;
    *) return 1 ;;
  esac
}
END
}

installs() { # OBJECTS: what the last command of the page makes
  expect "$(sed -n 's/^kind: //p' "$work/page/installation.yaml" | sort | xargs)" "$1"
}

write_inputs
for set in tokens certificates cert_manager everything; do
  declare -n options=$set
  check "helm lint: $set" helm lint --strict "$chart" "${options[@]}"
  check "it renders: $set" render "$set" "${options[@]}"
done
check "helm lint" helm lint --strict "$chart"
check "it is the kustomize base" equals_base
check "the patch of docs/manifests.md" patches_architectures
check "a changed value makes a difference" refused '*maxUnavailable*' equals_base --set agent.maxUnavailable=1
check "everything that it can make" expect "$(objects everything)" \
  "1Certificate 3ConfigMap 1DaemonSet 1NetworkPolicy 2PodMonitor 1PrometheusRule 2ServiceAccount 1StatefulSet"
check "the alerts are rules of Prometheus" rules_are_right
check_values
check_tokens
check_certificates
check_programs
check_refusals
write_stand_ins
check "the commands of docs/helm.md" run_page docs/helm.md "host tests/cluster/chart.sh"
check "they make ibpod-sm and the agents" installs "$with_sm"
check "the commands of docs/operations.md" run_page docs/operations.md "host tests/cluster/chart.sh"
check "they make the same" installs "$with_sm"
check "the commands of README.md" run_page README.md "host tests/lanes/chart.sh"
check "they make the same" installs "$with_sm"
end_checks
