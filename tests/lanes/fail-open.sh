#!/usr/bin/env bash
# Ten thousand damaged and a thousand random partitions.conf with the real OpenSM, the damaged ones in the engine's place, too.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
. "$root/tests/tools.sh"
passed=0 failed=0

build asan fabric_engine
if FILES=1000 DAMAGED=10000 PLACED=10000 build/asan/bin/fabric_engine --source-file="*fail_open_test*,*readings_test*"; then
  passed=1
else
  failed=1
fi
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
