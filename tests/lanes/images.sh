#!/usr/bin/env bash
# The images of the agent and of ibpod-sm by images/build.sh, twice: the same digests, their size, labels and SBOM.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/tests/tools.sh"
. "$root/tests/cluster/checks.sh"

# The block "host tests/lanes/images.sh" of docs/images.md.
run_page() {
  awk -v place="host tests/lanes/images.sh" -f "$root/tests/blocks.awk" "$root/docs/images.md" >"$work/page.sh"
  grep -q 'build.sh sm' "$work/page.sh"
  (cd "$root" && bash -euxo pipefail "$work/page.sh")
}

digest() { jq -r '.manifests[0].digest' "$1/index.json"; } # LAYOUT
blob() { echo "$1/blobs/${2/://}"; }                        # LAYOUT DIGEST

same_again() { # NAME
  "$root/images/build.sh" "$1" "$work/again"
  echo "$(digest "$made/$1.oci") $(digest "$work/again/$1.oci")"
  [ "$(digest "$made/$1.oci")" = "$(digest "$work/again/$1.oci")" ] && cmp "$made/$1.spdx.json" "$work/again/$1.spdx.json"
}

megabytes() { # LAYOUT: compressed
  jq '[.layers[].size] | add / 1e6 | ceil' "$(blob "$1" "$(digest "$1")")"
}

is_below() { # LAYOUT MEGABYTES
  echo "$1: $(megabytes "$1") MB"
  [ "$(megabytes "$1")" -lt "$2" ]
}

has_labels() { # LAYOUT
  local config
  config=$(blob "$1" "$(jq -r .config.digest "$(blob "$1" "$(digest "$1")")")")
  jq -e '.config | (.Entrypoint | length == 1) and (.Labels |
    [.["org.opencontainers.image." + ("title", "version", "revision", "created", "licenses")]] | all(. != null and . != ""))' "$config"
}

# As many packages as the list, each relation to a package that is there.
sbom_is_whole() { # NAME
  jq -e --argjson lines "$(wc -l <"$made/$1.packages")" '.spdxVersion == "SPDX-2.3" and (.packages | length) == $lines + 1 and
    ([.packages[].SPDXID] | unique | length) == $lines + 1 and
    (([.relationships[].relatedSpdxElement] - [.packages[].SPDXID]) == [])' "$made/$1.spdx.json"
}

made=$root/build/images
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
check "docs/images.md" run_page
for name in agent sm; do
  check "$name: the same digest again" same_again "$name"
  check "$name: labels" has_labels "$made/$name.oci"
  check "$name: SBOM" sbom_is_whole "$name"
  echo "        $name: $(megabytes "$made/$name.oci") MB compressed, $(wc -l <"$made/$name.packages") packages"
done
check "agent: below 60 MB" is_below "$made/agent.oci" 60
check "agent: no OpenSM" test -z "$(grep '^opensm ' "$made/agent.packages")"
check "sm: OpenSM" grep '^opensm ' "$made/sm.packages"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
