#!/usr/bin/env bash
# ibpod-sm killed at every step of every change, and many faults of disk, links and subnet managers, with the real OpenSM.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
. "$root/tests/tools.sh"
passed=0 failed=0 skipped=0
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ]; then export TMPDIR=/dev/shm; fi

build asan fabric_sm_faults
status=0
STEPS=all build/asan/bin/fabric_sm_faults || status=$?
case $status in
  0) passed=1 ;;
  77) skipped=1 ;;
  *) failed=1 ;;
esac
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
