#!/usr/bin/env bash
# A thousand seeded runs of the agent's sweep, ended at random points, among live, dead, re-used and foreign namespaces.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
. "$root/tests/tools.sh"
passed=0 failed=0

build asan agent_gc_test
if RUNS=1000 build/asan/bin/agent_gc_test --test-case="in many lives*"; then passed=1; else failed=1; fi
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
