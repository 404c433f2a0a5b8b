#!/usr/bin/env bash
# The VM harness sees what cases do wrong: those of tests/vm/bad, each with the verdict it must get; and a name of none.
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

# Beside one that there is, so that the rest could pass.
known=$(basename -s .sh "$root"/tests/vm/bad/*.sh | head -n 1)
if said=$(VM_CASES=$root/tests/vm/bad "$root/tests/vm/run" "$known" nothing 2>&1); then
  failed=$((failed + 1))
  echo "FAIL: a case that does not exist was asked for, and nothing said so"
elif [[ $said == *"no case 'nothing'"* && $said != *"node ready"* ]]; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo "FAIL: 'no case' should be said before anything boots: $said"
fi
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
