#!/usr/bin/env bash
# The whole agent for five minutes under each of TSan and ASan+UBSan: pods, kubelet restarts, devices, configurations at once.
#
# CHURN_SECONDS=20 is a short sample.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
. "$root/tests/tools.sh"
passed=0 failed=0
seconds=${CHURN_SECONDS:-300}

# Half the time with each way to register.
churn() { # PRESET
  build "$1" ibpod-agent_logic_test
  echo "--- $1"
  CHURN_SECONDS=$(((seconds + 1) / 2)) \
    TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=0 history_size=7 suppressions=$root/tests/tsan.supp" \
    "build/$1/bin/ibpod-agent_logic_test" --test-case="churn*" --success=false
}

for preset in tsan asan; do
  if churn "$preset"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
