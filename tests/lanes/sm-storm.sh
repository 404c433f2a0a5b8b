#!/usr/bin/env bash
# What OpenSM alone and ibpod-sm need for a change on 2,048 hosts, and for a storm of 50 pods a second for a minute.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
. "$root/tests/tools.sh"

build_program() { cmake --preset release && cmake --build --preset release --target ibpod-sm; }
build_runs() { cmake --preset asan && cmake --build --preset asan --target fabric_storm; }

step "building ibpod-sm" build_program
step "building what measures it" build_runs
if IBPOD_SM=$root/build/release/bin/ibpod-sm build/asan/bin/fabric_storm; then
  echo "1 passed, 0 failed, 0 skipped"
else
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
