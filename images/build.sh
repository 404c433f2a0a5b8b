#!/usr/bin/env bash
# Makes an image as an OCI layout, without a registry and without a container runtime:
#
#   images/build.sh agent|sm [FOLDER]     FOLDER (default build/images) gets NAME.oci, NAME.packages and NAME.spdx.json,
#                                         for arm64 NAME-arm64.oci and so on
#
# On Debian 12 (amd64); as root, or as a user who may make user namespaces. The same sources, Debian packages and
# SOURCE_DATE_EPOCH (default: the time of the last commit) give the same digest. SOURCES=FILE has other lines for
# sources.list than the mirrors of this machine's apt, as of a snapshot; PROGRAMS=FOLDER has programs that are built
# already. With ARCH=arm64 it is an image for arm64: cmake/arm64.sh builds the programs, which needs root, and qemu-user
# runs those of Debian's packages.
set -euo pipefail
umask 022
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/tests/tools.sh"
name=${1:-} output=$(readlink -m "${2:-$root/build/images}")
[ -e "$root/images/$name.conf" ] || die "$name: expected agent or sm"
arch=${ARCH:-amd64}
case $arch in
  amd64) image=$name preset=release needs="images" ;;
  arm64) image=$name-arm64 preset=arm64 needs="images arm64" ;;
  *) die "ARCH=$arch: expected amd64 or arm64" ;;
esac
# shellcheck disable=SC1090
. "$root/images/$name.conf"
version=$(project_version)
fix_times

# shellcheck disable=SC2016 # $1 is for mmdebstrap's hooks
# Pages for readers and the C library's conversions of texts are left out, not the licenses. What apt and ldconfig keep for
# themselves differs from run to run.
make_debian() {
  mmdebstrap --quiet --variant=essential --architectures="$arch" --include="$(IFS=,; echo "${packages[*]}")" \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/info/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/lib/*/gconv/*' \
    --customize-hook='rm -rf "$1"/var/cache/ldconfig/aux-cache "$1"/var/cache/debconf/*-old "$1"/var/lib/dpkg/*-old "$1"/var/log/*' \
    --customize-hook='rm "$1"/etc/apt/sources.list' bookworm "$work/debian.tar" - <"$work/sources"
}

# sets $programs, the folder of those of the architecture
build_for_image() {
  local names
  mapfile -t names < <(printf '%s\n' "${files[@]}" | sed -n 's,^build/release/bin/\([^ ]*\) .*,\1,p')
  if [ "$preset" = release ] || [ -n "${PROGRAMS:-}" ]; then
    build_programs "${names[@]}"
    return
  fi
  step "building for $arch" "$root/cmake/arm64.sh" sh -c \
    'cmake --preset arm64 && exec cmake --build --preset arm64 --target "$@"' _ "${names[@]}"
  programs=$root/build/$preset/bin
}

add_files() {
  local entry file folder mode
  for entry in "${files[@]}"; do
    read -r file folder <<<"$entry"
    mkdir -p "$work/files$folder"
    mode=0644
    case $file in
      build/*) mode=0755 file=$programs/${file##*/} ;;
      *.sh) mode=0755 file=$root/$file ;;
      *) file=$root/$file ;;
    esac
    install -m "$mode" "$file" "$work/files$folder/"
  done
}

# In a copy of the whole image: a library that no package of the list brings.
check_libraries() {
  local file into=(chroot)
  [ "$(id -u)" = 0 ] || into=(unshare --map-root-user chroot)
  mkdir "$work/tree"
  tar -C "$work/tree" --exclude='./dev/*' --no-same-owner -xf "$work/debian.tar"
  cp -r "$work/files/." "$work/tree/"
  while read -r file; do
    if "${into[@]}" "$work/tree" ldd "$file" | grep 'not found'; then die "$file lacks libraries: add their packages to $name.conf"; fi
  done < <(cd "$work/files" && find . -type f -perm /111 ! -name '*.sh' -printf '/%P\n')
}

list_packages() {
  python3 -B "$root/images/sbom.py" --list "$work/tree/var/lib/dpkg/status" >"$output/$image.packages"
  python3 -B "$root/images/sbom.py" --name "ibpod-$name" --version "$version" --created "$SOURCE_DATE_EPOCH" \
    --root "$work/tree" "$work/tree/var/lib/dpkg/status" >"$output/$image.spdx.json"
  install -m 0644 "$output/$image.spdx.json" "$work/files/usr/share/doc/ibpod/sbom.spdx.json"
}

pack_files() {
  tar -C "$work/files" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=gnu \
    -cf "$work/files.tar" .
}

add_layer() { # TAR ORIGIN
  umoci raw add-layer --image "$work/oci:$version" --history.created "$created" --history.created_by "$2" "$1"
}

make_layout() {
  local created
  created=$(date -u --date "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
  umoci init --layout "$work/oci"
  umoci new --image "$work/oci:$version"
  add_layer "$work/debian.tar" "Debian 12: images/$name.conf"
  add_layer "$work/files.tar" "ibpod $version"
  umoci config --image "$work/oci:$version" --no-history --created "$created" --author ibpod \
    --os linux --architecture "$arch" --config.entrypoint "$entrypoint" --config.user 0 \
    --config.env PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    --config.label "org.opencontainers.image.title=$title" \
    --config.label "org.opencontainers.image.version=$version" \
    --config.label "org.opencontainers.image.revision=$(project_git rev-parse HEAD)" \
    --config.label "org.opencontainers.image.created=$created" \
    --config.label "org.opencontainers.image.licenses=Apache-2.0"
  umoci gc --layout "$work/oci"
}

say_what_it_is() {
  local digest
  digest=$(jq -r '.manifests[0].digest' "$output/$image.oci/index.json")
  echo "$output/$image.oci: $version, $digest"
  jq -r '"\([.layers[].size] | add / 1e6 * 10 | round / 10) MB compressed"' "$output/$image.oci/blobs/${digest/://}"
}

# shellcheck disable=SC2086
install_packages $needs
build_for_image
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$output"
debian_sources >"$work/sources"
step "Debian packages" make_debian
add_files
check_libraries
list_packages
pack_files
step "OCI layout" make_layout
rm -rf "$output/$image.oci"
mv "$work/oci" "$output/$image.oci"
say_what_it_is
