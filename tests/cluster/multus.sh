#!/bin/bash
# Multus of the test cluster: fetches the pod that a call is about, and the networks of its namespace, from the API server, as
# the files that the stand-in of tests/support/multus takes for one; then it is the stand-in.
set -euo pipefail
here=/run/cluster
token=$(cut -d, -f1 "$here/api/tokens")
api=$(sed -n 's/.*server: "\(.*\)".*/\1/p' "$here/api/kubeconfig")

ask() { curl -sf --insecure --header "Authorization: Bearer $token" "$api/$1"; } # PATH

# A pod that has gone is remembered by the stand-in.
fetch() { # PATH
  local file=$here/objects/$1
  mkdir -p "$(dirname "$file")"
  if ask "$1" >"$file.$$"; then mv "$file.$$" "$file"; else rm "$file.$$"; fi
}

argument() { sed -n "s/^$1=//p" < <(tr ';' '\n' <<<"${CNI_ARGS:-}"); } # NAME

namespace=$(argument K8S_POD_NAMESPACE)
if [ -n "$namespace" ]; then
  networks=apis/k8s.cni.cncf.io/v1/namespaces/$namespace/network-attachment-definitions
  fetch "api/v1/namespaces/$namespace/pods/$(argument K8S_POD_NAME)"
  names=$(ask "$networks" | jq -r '.items[].metadata.name')
  for name in $names; do fetch "$networks/$name"; done
fi
exec "$here/multus"
