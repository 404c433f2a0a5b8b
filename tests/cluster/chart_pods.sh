# The chart in the cluster of cluster.sh, and pods in partitions by it. Sourced in place of cluster.sh.
# shellcheck shell=bash disable=SC2016,SC2034,SC2154
. "$ROOT/tests/cluster/cluster.sh"
. "$ROOT/tests/vm/sm.sh"
. "$ROOT/tests/vm/stage.sh"
. "$ROOT/tests/vm/probers.sh"
export REGISTRY=registry.example.com
export HELM_CACHE_HOME=$WORK/helm HELM_CONFIG_HOME=$WORK/helm HELM_DATA_HOME=$WORK/helm
node=node1

start_chart_cluster() {
  at_end stage_as_before 4
  at_end plain_opensm
  at_end rm -rf /var/lib/ibpod-sm /opt/cni/bin/ib-sriov /opt/cni/bin/ipoib
  at_end unlock
  at_end end_opensm
  clear_stage
  start_cluster
  import_ours sm
  stop_opensm
  install -d -m 0700 /var/lib/ibpod-sm
  kubectl label node "$node" node-restriction.kubernetes.io/ibpod-sm=true
}

unlock() {
  local key
  if [ ! -e "$WORK/m_key" ]; then return 0; fi
  read -r key <"$WORK/m_key"
  forget_keys "${key#0x}" "$PF0" "$PF1"
}

# --- the chart ------------------------------------------------------------------------------------------------------------

chart_values=(--set sm.enabled=true --set "sm.address=$node_address" --set sm.keysSecret=ibpod-sm-keys
  --set "agent.image.repository=$REGISTRY/ibpod/agent" --set "sm.image.repository=$REGISTRY/ibpod/sm"
  --set-file "agent.config=$WORK/agent.json" --set-file "sm.config=$WORK/sm.json")

# With the keys of the fabric, as docs/helm.md has it; what it says before is not part of the one command.
install_chart() { # OPTION...
  local key
  jq -n --arg pf0 "$PF0" --arg pf1 "$PF1" '{rdmaNetns: "exclusive", pfs: [{rootDevices: [$pf0, $pf1], numVfs: 4}],
    resourceList: [{resourceName: "ib_vf", selectors: [{linkTypes: ["infiniband"], isRdma: true, rootDevices: [$pf0, $pf1]}]}]}' \
    >"$WORK/agent.json"
  jq -n '{pkeys: [{first: "0x0100", last: "0x0fff"}], guids: [{first: "0x0200000000000001", last: "0x02000000000000ff"}],
    look: {scanSeconds: 5}, opensm: {sweepSeconds: 1, mKeyFile: "/etc/ibpod/m_key", mKeyProtection: 2,
      smKeyFile: "/etc/ibpod/sm_key", saKeyFile: "/etc/ibpod/sa_key"}}' >"$WORK/sm.json"
  for key in m_key sm_key sa_key; do (umask 077; echo "0x$(openssl rand -hex 8)" >"$WORK/$key"); done
  kubectl apply --filename "$ROOT/manifests/base/namespace.yaml"
  kubectl --namespace ibpod create secret generic ibpod-sm-keys --from-file "$WORK/m_key" --from-file "$WORK/sm_key" \
    --from-file "$WORK/sa_key"
  helm install ibpod "$ROOT/charts/ibpod" --namespace ibpod "${chart_values[@]}" "$@" || tell_of_pods
  await_chart
}

upgrade_chart() { # OPTION...
  helm upgrade ibpod "$ROOT/charts/ibpod" --namespace ibpod "${chart_values[@]}" "$@" --wait --timeout 15m || tell_of_pods
  await_chart
}

# Helm's --wait is content with a DaemonSet while no more of its pods than maxUnavailable are not ready: of one, none has to be.
await_chart() {
  local workload
  for workload in statefulset/ibpod-sm daemonset/ibpod-agent; do
    kubectl --namespace ibpod rollout status "$workload" --timeout 15m || tell_of_pods
  done
}

tell_of_pods() {
  kubectl --namespace ibpod get pods --output wide
  kubectl --namespace ibpod get events | tail -n 20
  kubectl --namespace ibpod logs statefulset/ibpod-sm --tail 20
  kubectl --namespace ibpod logs daemonset/ibpod-agent --tail 20
  fail "the chart is not ready"
}

ready_pods() { # NAMESPACE
  kubectl --namespace "$1" get pods --output json |
    jq -r '[.items[] | select(any(.status.conditions[]?; .type == "Ready" and .status == "True")) | .metadata.name] | sort | join(" ")'
}
has_no_pod() { [ -z "$(kubectl --namespace "$1" get pods --output name)" ]; } # NAMESPACE

left_of_chart() {
  kubectl --namespace ibpod get daemonset,statefulset,configmap,secret,serviceaccount --output name |
    grep -v -e kube-root-ca -e serviceaccount/default | xargs
}

ctl() { kubectl --namespace ibpod exec ibpod-sm-0 -- ibpodctl "$@"; }

# --- pods in partitions -----------------------------------------------------------------------------------------------------

make_team() { # NAMESPACE PARTITION SUBNET REPLICAS: its pods are web-0, web-1, ...
  kubectl create namespace "$1"
  jq -n --arg partition "$2" --arg subnet "$3" --arg leases "$here/leases" '{
    apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition",
    metadata: {name: $partition, annotations: {"k8s.v1.cni.cncf.io/resourceName": "ibpod.io/ib_vf"}},
    spec: {config: ({cniVersion: "1.0.0", name: $partition, type: "ib-sriov", $partition, rdmaIsolation: true,
      ipam: {type: "host-local", $subnet, dataDir: $leases}} | tojson)}}' | kubectl --namespace "$1" apply --filename -
  jq -n --arg partition "$2" --argjson replicas "$4" '{
    apiVersion: "apps/v1", kind: "StatefulSet", metadata: {name: "web"},
    spec: {serviceName: "web", $replicas, podManagementPolicy: "Parallel", selector: {matchLabels: {app: "web"}},
      template: {metadata: {labels: {app: "web"}, annotations: {"k8s.v1.cni.cncf.io/networks": $partition}},
        spec: {terminationGracePeriodSeconds: 1, containers: [{name: "web", image: "debian:bookworm-slim",
          command: ["sleep", "infinity"], resources: {limits: {"ibpod.io/ib_vf": 1}}}]}}}}' |
    kubectl --namespace "$1" apply --filename -
}

web_pods() { # JQ-FILTER: of the list of the teams' pods
  kubectl get pods --all-namespaces --selector app=web --output json | jq -r "$1"
}
all_run() { [ "$(web_pods '[.items[] | select(any(.status.containerStatuses[]?; .state.running))] | length')" = "$1" ]; } # NUMBER
identities() { web_pods '[.items[] | "\(.metadata.namespace)/\(.metadata.name) \(.metadata.uid) \(.status.containerStatuses[0].containerID)"] | sort[]'; }

has_no_attachment() { [ -z "$(find "$records" -name '*.json')" ]; }

are_verified() { # "NAMESPACE/POD ..."
  [ "$(ctl --json binding list | jq -r '[.[] | select(.state == "verified" and .proof == "port") |
    "\(.pod.namespace)/\(.pod.name)"] | sort | join(" ")')" = "$1" ]
}

expect_table() { # NAMESPACE POD PARTITION
  local pkey
  pkey=$(ctl --json partition get "$3" | jq -r .pkey)
  expect_match "P_Keys of $1/$2" "$(pkeys "$(netns_of_pod "$1" "$2")" "$(of_pod "$1" "$2" .device)")" \
    "0:$(printf 0x%04x $((pkey | 0x8000)))*"
}

# "PCI (STATE) TABLE" of each VF with another key than the default one, which a port that was never up does not have either.
unclean_ports() {
  local link vf
  for link in /sys/bus/pci/devices/{"$PF0","$PF1"}/virtfn*; do
    vf=$(basename "$(readlink "$link")")
    cat "/sys/bus/pci/devices/$vf/infiniband/"*/ports/1/pkeys/0 >/dev/null || echo "$vf: no table"
    pkeys host "$vf" | grep -vx 0:0x7fff | sed "s/^/$vf ($(port_state host "$vf")) /" || true
  done
}
has_clean_ports() { [ -z "$(unclean_ports)" ]; }
expect_clean_ports() { (wait_for 90 has_clean_ports) || fail "keys without pods: $(unclean_ports)"; }

# --- probers in them: their names are those of the pods' network namespaces ---------------------------------------------------

declare -A prober_of=() # NAMESPACE/POD

start_team_prober() { # NAMESPACE POD PARTITION
  local netns interface address
  netns=$(netns_of_pod "$1" "$2")
  interface=$(netdev "$netns" "$(of_pod "$1" "$2" .device)")
  address=$(ip -n "$netns" -o -4 address show dev "$interface" | awk '{sub("/.*", "", $4); print $4}')
  prober_of[$1/$2]=$netns
  start_prober "$netns" "$3" "$address"
}

stop_team_probers() {
  local netns
  for netns in "${prober_of[@]}"; do stop_prober "$netns"; done
}

# Both pods of team-a heard each other all the time.
expect_heard_in_team() {
  local one=${prober_of[team-a/web-0]} other=${prober_of[team-a/web-1]}
  expect_heard "$one" "$other" 20
  expect_heard "$other" "$one" 20
  expect_none_missing "$one" "$other"
  expect_none_missing "$other" "$one"
  expect_none_wrong
}
