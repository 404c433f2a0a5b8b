#!/usr/bin/env bash
# ibpod-sm killed at every step of every change, with the real OpenSM and with a model of UFM; many faults of disk, links
# and subnet managers; and 10,000 random sequences of changes and faults of UFM.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
. "$root/tests/tools.sh"
passed=0 failed=0 skipped=0
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ]; then export TMPDIR=/dev/shm; fi

run() { # COMMAND...
  local status=0
  "$@" || status=$?
  case $status in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)) ;;
  esac
}

build asan fabric_sm_faults sm_ufm_test
run env STEPS=all build/asan/bin/fabric_sm_faults
run env ROUNDS=10000 build/asan/bin/sm_ufm_test --test-case="whatever happens, UFM*"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
