#!/usr/bin/env bash
# The current host-local and static IPAM plugins, built from their public Go module, in the test VM.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/tests/tools.sh"
module=github.com/containernetworking/plugins
version=v1.9.1

# Nothing outside of the build tree is written.
build_plugins() {
  command -v go >/dev/null || die "this lane needs Go"
  export GOPATH=$root/build/ipam/go GOCACHE=$root/build/ipam/cache GOBIN=$root/build/ipam CGO_ENABLED=0 GOFLAGS=-modcacherw
  retry 3 go install "$module/plugins/ipam/host-local@$version" "$module/plugins/ipam/static@$version"
}

step "$module $version" build_plugins
exec "$root/tests/vm/run" --lane ipam
