#!/usr/bin/env bash
# arm64 by a cross compiler: the programs, the images, and under qemu-user unit tests.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
. "$root/tests/tools.sh"
. "$root/tests/cluster/checks.sh"
bin=$root/build/arm64/bin
programs="ib-sriov ipoib ibpod-agent ibpod-sm ibpodctl"
static="ib-sriov ipoib ibpodctl"
version=$(sed -nE 's/^project\(ibpod .*VERSION ([0-9.]+)\)$/\1/p' CMakeLists.txt)

in_root() { "$root/cmake/arm64.sh" "$@"; }

build_in_root() { # PRESET TARGET...
  in_root cmake --preset "$1"
  in_root cmake --build --preset "$1" --target "${@:2}"
}

# The blocks "host tests/lanes/arm64.sh" of a page.
run_page() { # PAGE PART: it is in them
  awk -v place="host tests/lanes/arm64.sh" -f tests/blocks.awk "$1" >"$work/page.sh"
  grep -qe "$2" "$work/page.sh" && bash -euxo pipefail "$work/page.sh"
}

# --- programs ---------------------------------------------------------------------------------------------------------------

is_arm64() { readelf --file-header "$1" | grep 'Machine: *AArch64'; } # FILE

# Kernels of these machines often have pages of 64 KiB, and load no segment of a smaller alignment.
fits_large_pages() { # FILE
  readelf --program-headers --wide "$1" >"$work/headers" &&
    awk '$1 == "LOAD" {print; n++} $1 == "LOAD" && $NF !~ /^0x[1-9a-f][0-9a-f]*0000$/ {bad = 1} END {exit bad || n == 0}' "$work/headers"
}

needs_nothing() { # FILE
  readelf --program-headers --dynamic "$1" >"$work/headers" && refused '' grep -E 'INTERP|NEEDED' "$work/headers"
}

finds_libraries() { # FILE
  in_root /lib/ld-linux-aarch64.so.1 --list "$1" >"$work/libraries" && grep 'libgrpc++' "$work/libraries" &&
    refused '' grep 'not found' "$work/libraries"
}

# A plugin says it on its standard error.
says_version() { # FILE
  expect "$(in_root "$1" --version 2>&1)" "*$version*"
}

check_programs() {
  local name
  for name in $programs; do
    check "$name: aarch64" is_arm64 "$bin/$name"
    check "$name: pages of 64 KiB" fits_large_pages "$bin/$name"
    if [[ " $static " == *" $name "* ]]; then
      check "$name: static" needs_nothing "$bin/$name"
    else
      check "$name: finds its libraries" finds_libraries "$bin/$name"
    fi
    check "$name: runs, emulated" says_version "$bin/$name"
  done
}

# --- images -----------------------------------------------------------------------------------------------------------------

blob() { echo "$1/blobs/${2/://}"; } # LAYOUT DIGEST

# Also by what the image itself says.
platforms() { # LAYOUT: those of its index
  local entry
  jq -c '.manifests[]' "$(blob "$1" "$(jq -r '.manifests[0].digest' "$1/index.json")")" | while read -r entry; do
    jq -r '.platform | "\(.os)/\(.architecture)"' <<<"$entry"
    jq -r '"\(.os)/\(.architecture)"' "$(blob "$1" "$(jq -r .config.digest "$(blob "$1" "$(jq -r .digest <<<"$entry")")")")"
  done | xargs
}

only_arm64() { # LIST-OF-PACKAGES
  refused '' grep -vE ' (arm64|all)$' "$1"
}

# As qemu runs it; the libraries are looked at by images/build.sh, in the image.
check_images() {
  local name made=$root/build/images
  check "docs/images.md" run_page docs/images.md "join.sh sm"
  for name in agent sm; do
    check "$name: packages of arm64" only_arm64 "$made/$name-arm64.packages"
    check "$name: one image of each architecture" expect "$(platforms "$made/$name-all.oci")" \
      "linux/amd64 linux/amd64 linux/arm64 linux/arm64"
    echo "        $name: $(jq -r '[.layers[].size] | add / 1e6 | ceil' \
      "$(blob "$made/$name-arm64.oci" "$(jq -r '.manifests[0].digest' "$made/$name-arm64.oci/index.json")")") MB compressed"
  done
}

# --- unit tests -------------------------------------------------------------------------------------------------------------

run_tests() {
  local counts
  in_root python3 -B tests/emulated.py build/arm64-tests tests/not_emulated | tee "$work/tests" || return 1
  counts=$(tail -n 1 "$work/tests")
  [[ $counts =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]
  passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2])) skipped=$((skipped + BASH_REMATCH[3]))
}

install_packages build arm64 images
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
check "CONTRIBUTING.md" run_page CONTRIBUTING.md "--preset arm64 --target"
check_programs
check_images
step "unit tests for arm64" build_in_root arm64-tests tier_unit
run_tests
echo "not run: a real arm64 machine, the tiers netns, fabric and vm, OpenSM, a kernel with pages of 64 KiB"
end_checks
