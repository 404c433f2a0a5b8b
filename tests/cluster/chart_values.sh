# The Helm chart with sets of values. Sourced, after versions.sh; $root is the repository, $work a folder for the inputs.
# shellcheck shell=bash disable=SC2034,SC2154
chart=$root/charts/ibpod

template() { helm template ibpod "$chart" --namespace ibpod --kube-version "${kubernetes#v}" "$@"; } # OPTION...

write_inputs() { # sets the sets
  export HELM_CACHE_HOME=$work/helm HELM_CONFIG_HOME=$work/helm HELM_DATA_HOME=$work/helm
  cat >"$work/agent.json" <<'END'
{
  "metricsAddress": ":9464", // for Prometheus
  /* "fabrics": not here */ "logLevel": "debug"
}
END
  cat >"$work/sm.json" <<'END'
{
  "fabric": "east", /* "listen": the chart has it, "//" as well */
  "pkeys": [{"first": "0x0100", "last": "0x0fff"}], // "clusters", too
  "guids": [{"first": "0x0200000000000001", "last": "0x0200000000ffffff"}],
  "metricsAddress": "0.0.0.0:9465"
}
END
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=another-ca -keyout "$work/ca.key" \
    -out "$work/ca.crt" 2>/dev/null

  # Agents that show tokens to an ibpod-sm of the same release.
  tokens=(--set sm.enabled=true --set sm.address=sm.example.com --set-file "sm.config=$work/sm.json")
  # Agents with certificates, and an ibpod-sm.
  certificates=(--set agent.identity=certificates --set sm.enabled=true --set-file "sm.config=$work/sm.json"
    --set sm.tlsSecret=tls)
  cert_manager=("${tokens[@]}" --set certManager.issuer.name=ca --set-file "sm.ca=$work/ca.crt")
  # Everything that the chart can make, but for the certificate that cert-manager makes here.
  everything=("${cert_manager[@]}" --set sm.keysSecret=keys --set networkPolicy=true --set monitoring.rules=true
    --set monitoring.podMonitor=true --set-json 'monitoring.labels={"release":"prometheus"}'
    --set-json 'imagePullSecrets=[{"name":"registry"}]' --set agent.image.pullPolicy=Always --set sm.state.storageClass=fast
    --set-file "agent.config=$work/agent.json")
}

of_kind() { # KIND FILE: its objects, one after the other
  awk -v kind="kind: $1" -v RS='---\n' 'index($0, kind "\n") {printf "---\n%s", $0}' "$2"
}
