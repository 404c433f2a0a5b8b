#!/usr/bin/env bash
# Builds a preset and runs its tests of one label:  tests/ctest.sh PRESET LABEL
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/tests/tools.sh"
preset=$1 label=$2

build "$preset"
results=$root/build/$preset/$label.xml status=0
rm -f "$results"
ctest --test-dir "$root/build/$preset" --label-regex "^$label\$" --parallel "$(nproc)" --output-on-failure \
  --no-tests=error --output-junit "$results" || status=$?

number() { sed -n "1,/>/s/.*[[:space:]]$1=\"\([0-9]*\)\".*/\1/p" "$results" | head -1; }
if [ ! -e "$results" ]; then
  echo "no test has the label $label: skipped"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
failed=$(number failures) skipped=$(number skipped)
echo "$(($(number tests) - failed - skipped)) passed, $failed failed, $skipped skipped"
exit "$status"
