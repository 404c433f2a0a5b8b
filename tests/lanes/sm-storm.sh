#!/usr/bin/env bash
# The time that OpenSM alone and ibpod-sm need for a change on 2,048 hosts, and for a storm of 50 pods a second for a
# minute; and the same with UFM.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
. "$root/tests/tools.sh"
passed=0 failed=0

# A sanitizer in what asks would take time from what answers.
build measure fabric_storm fabric_ufm_storm
for storm in fabric_storm fabric_ufm_storm; do
  if "build/measure/bin/$storm"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
