#!/usr/bin/env bash
# The VM harness sees what cases do wrong: those of tests/vm/bad, each with the verdict it must get.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
passed=0 failed=0

said=$(CI='' VM_CASES=$root/tests/vm/bad "$root/tests/vm/run" | tee /dev/stderr) || true
for file in "$root"/tests/vm/bad/*.sh; do
  name=$(basename "$file" .sh)
  read -r verdict reason <<<"$(sed -n 's/^# verdict: //p' "$file")"
  line=$(grep -E "^ +(ok|FAIL|skip) +$name " <<<"$said" || true)
  if [[ $line == *"$verdict "*"$name "*"$reason"* ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL: $name got '$line', and must get '$verdict $reason'"
  fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
