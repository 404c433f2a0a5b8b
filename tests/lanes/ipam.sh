#!/usr/bin/env bash
# The current host-local and static IPAM plugins, built from their public Go module, in the test VM.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck disable=SC2034 # for kernels.sh
build=$root/build/vm
ipam=$root/build/ipam
. "$root/tests/tools.sh"
. "$root/tests/vm/kernels.sh"
module=github.com/containernetworking/plugins
version=v1.9.1
go=golang-1.24 # the oldest that builds it

# This Debian release's Go is older. The next one's is unpacked into the build tree, by way of the package lists that
# kernel 7 came from.
fetch_go() {
  if [ -e "$ipam/$go.done" ]; then return; fi
  find_kernel 7
  mkdir -p "$ipam"
  export APT_CONFIG=${build_root%/root}/apt/conf
  retry 3 apt-get -q update
  cd "$ipam"
  for package in $go-go $go-src; do
    rm -f "$package"_*.deb
    retry 3 apt-get -q download "$package"
    dpkg -x "$package"_*.deb debian
    rm "$package"_*.deb
  done
  touch "$go.done"
}

# Nothing outside of the build tree is written.
build_plugins() {
  export GOPATH=$ipam/go GOCACHE=$ipam/cache GOBIN=$ipam CGO_ENABLED=0 GOFLAGS=-modcacherw GOTOOLCHAIN=local
  retry 3 "$ipam/debian/usr/lib/${go/lang/}/bin/go" install "$module/plugins/ipam/host-local@$version" \
    "$module/plugins/ipam/static@$version"
}

step "$go" fetch_go
step "$module $version" build_plugins
exec "$root/tests/vm/run" --lane ipam
