#!/usr/bin/env bash
# Joins the images for amd64 and for arm64 that images/build.sh has made, so that a node gets its own by one name:
#
#   images/join.sh agent|sm [FOLDER]     FOLDER (default build/images) has NAME.oci and NAME-arm64.oci, and gets NAME-all.oci
set -euo pipefail
umask 022
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/tests/tools.sh"
name=${1:-} folder=$(readlink -m "${2:-$root/build/images}")
[ -e "$root/images/$name.conf" ] || die "$name: expected agent or sm"
index="application/vnd.oci.image.index.v1+json"

entry() { # LAYOUT ARCHITECTURE: the layout's image in an index
  jq --arg architecture "$2" '.manifests | if length == 1 then .[0] else error("expected one image") end |
    {mediaType, digest, size, platform: {architecture: $architecture, os: "linux"}}' "$1/index.json"
}

version() { jq -r '.manifests[0].annotations["org.opencontainers.image.ref.name"]' "$1/index.json"; } # LAYOUT

for layout in "$folder/$name.oci" "$folder/$name-arm64.oci"; do
  [ -e "$layout/index.json" ] || die "$layout: there is no such image; make it by images/build.sh"
done
[ "$(version "$folder/$name.oci")" = "$(version "$folder/$name-arm64.oci")" ] || die "$name.oci and $name-arm64.oci: two versions"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/oci"
cp -r "$folder/$name.oci/." "$folder/$name-arm64.oci/." "$work/oci"
jq --slurp --arg type $index '{schemaVersion: 2, mediaType: $type, manifests: .}' \
  <(entry "$folder/$name.oci" amd64; entry "$folder/$name-arm64.oci" arm64) >"$work/index"
sum=$(sha256sum "$work/index" | cut -d' ' -f1)
jq -n --arg type $index --arg sum "$sum" --argjson size "$(stat -c %s "$work/index")" --arg version "$(version "$folder/$name.oci")" '
  {schemaVersion: 2, mediaType: $type, manifests: [{mediaType: $type, digest: "sha256:\($sum)", $size,
    annotations: {"org.opencontainers.image.ref.name": $version}}]}' >"$work/oci/index.json"
install -m 0644 "$work/index" "$work/oci/blobs/sha256/$sum"
rm -rf "$folder/$name-all.oci"
mv "$work/oci" "$folder/$name-all.oci"
echo "$folder/$name-all.oci: $(version "$folder/$name-all.oci"), sha256:$sum"
