#!/usr/bin/env bash
# A real kubelet, containerd and API server: the manifests on this machine, pods with VFs in the test VM.
# MULTUS=PATH runs the cases through that Multus instead of by containerd itself.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/tests/tools.sh"
. "$root/tests/cluster/build.sh"
. "$root/tests/cluster/images.sh"
passed=0 failed=0 skipped=0

# Runs a part and adds what its last line counts.
part() { # COMMAND...
  local log=$root/build/cluster.part
  "$@" | tee "$log" || true
  if [[ $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2])) skipped=$((skipped + BASH_REMATCH[3]))
  else
    failed=$((failed + 1))
  fi
}

mkdir -p "$cluster"
install_packages cluster
(choose_go; build_cluster; build_chart_tools)
build_images
build_our_images
part "$root/tests/cluster/manifests.sh"
part "$root/tests/cluster/chart.sh"
part env FULL=1 VM_CASES="$root/tests/cluster/cases" "$root/tests/vm/run"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
