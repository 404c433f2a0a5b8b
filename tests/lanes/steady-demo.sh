#!/usr/bin/env bash
# The story of ./demo fifty times (or ROUNDS=N), two for each processor side by side: what it says is true each time.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/tests/tools.sh"
. "$root/tests/steady.sh"
logs=$root/build/steady-demo

rm -rf "$logs"
mkdir -p "$logs"
export root logs
tell_story() { # NUMBER
  if "$root/tests/vm/run" --script "$root/tests/vm/demo.sh" >"$logs/$1" 2>&1 </dev/null; then
    echo "ok    $1  $(tail -n 1 "$logs/$1")"
  else
    echo "FAIL  $1  $(tail -n 1 "$logs/$1")"
  fi
}
export -f tell_story
# shellcheck disable=SC2016
seq "$rounds" | xargs -n 1 -P $((2 * $(nproc))) bash -c 'tell_story "$0"' | tee "$logs/results"
failed=$(grep -c '^FAIL' "$logs/results" || true)
echo "$((rounds - failed)) passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
