#!/usr/bin/env bash
# 200 random changes of partitions with the real OpenSM: what `ibpodctl plan` says of each, and what the ports then hold.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
. "$root/tests/tools.sh"
passed=0 failed=0 skipped=0

build asan fabric_sm
status=0
PLANS=${PLANS:-200} build/asan/bin/fabric_sm --test-case="whatever is changed*" || status=$?
case $status in
  0) passed=1 ;;
  77) skipped=1 ;;
  *) failed=1 ;;
esac
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
