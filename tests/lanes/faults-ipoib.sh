#!/usr/bin/env bash
# The fault loop of ipoib, every point of ADD and DEL, on every kernel.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
passed=0 failed=0
for kernel in 6.1 6.12 7; do
  if KERNEL=$kernel "$root/tests/vm/run" --lane faults-ipoib; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
