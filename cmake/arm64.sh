#!/usr/bin/env bash
# Runs a command in the build root for arm64, in the same folder as here:
#
#   cmake/arm64.sh cmake --preset arm64
#   cmake/arm64.sh cmake --build --preset arm64
#
# The root is Debian 12 of this machine's architecture, with the cross compiler and with arm64's libraries. It is made
# when it is missing or its packages have changed (800 MB, in $IBPOD_CACHE or build). As root: it is entered by chroot.
# SOURCES=FILE has other lines for sources.list than the mirrors of this machine's apt.
set -euo pipefail
root=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
. "$root/tests/tools.sh"
arm64_root=${IBPOD_CACHE:-$root/build}/arm64-root

# Libraries are of arm64, unless they are the same for all; programs that a build runs are of this machine.
root_packages() {
  local names
  names=$(packages_of build test | sed -E '/^(libclang|clang|llvm)/d; s/^g\+\+$/g++-aarch64-linux-gnu/')
  # shellcheck disable=SC2086
  apt-cache show --no-all-versions $names | awk '
    $1 == "Package:" {name = $2}
    $1 == "Architecture:" {print name (name ~ /-dev$/ && $2 != "all" ? ":arm64" : "")}' | sort -u
}

make_root() {
  rm -rf "$arm64_root"
  mkdir -p "${arm64_root%/*}"
  debian_sources | mmdebstrap --quiet --mode=root --variant=minbase --architectures=amd64,arm64 \
    --include="$(root_packages | paste -sd,)" bookworm "$arm64_root" -
  root_packages >"$arm64_root/packages"
}

enter_root() { # FOLDER COMMAND...
  local cache
  cache=$(ccache --get-config cache_dir)
  mkdir -p "$cache" "$arm64_root$root" "$arm64_root$cache"
  # The mounts end with the last process that has them.
  # shellcheck disable=SC2016
  exec unshare --mount bash -c '
    set -euo pipefail
    into=$1 tree=$2
    export CCACHE_DIR=$3
    mount -t proc proc "$into/proc"
    mount -t sysfs sysfs "$into/sys"
    mount --rbind /dev "$into/dev"
    mount -t tmpfs tmpfs "$into/tmp"
    mount --bind "$tree" "$into$tree"
    mount --bind "$CCACHE_DIR" "$into$CCACHE_DIR"
    exec chroot "$into" env --chdir "$4" "${@:5}"' _ "$arm64_root" "$root" "$cache" "$@"
}

[ $# -gt 0 ] || die "expected a command"
[ "$(id -u)" = 0 ] || die "run as root: the build root is entered by chroot"
install_packages build arm64
if ! root_packages | cmp -s - "$arm64_root/packages"; then step "build root for arm64" make_root; fi
enter_root "$root" "$@"
