#!/usr/bin/env bash
# The time that OpenSM alone and ibpod-sm need for a change on 2,048 hosts, and for a storm of 50 pods a second for a
# minute.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
. "$root/tests/tools.sh"

# A sanitizer in what asks would take time from what answers.
build measure fabric_storm
if build/measure/bin/fabric_storm; then
  echo "1 passed, 0 failed, 0 skipped"
else
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
