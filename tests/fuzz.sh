#!/usr/bin/env bash
# Runs every fuzz target for some seconds:  tests/fuzz.sh SECONDS
# A target NAME_fuzz starts from tests/data/fuzz/NAME, with the words of tests/data/fuzz/dictionaries/NAME; what it
# discovers stays in build/fuzz/corpus. An input that makes it fail is a finding: fix the code and add the input to
# tests/data/fuzz/NAME, where unit tests replay it.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/tests/tools.sh"
seconds=$1
work=$root/build/fuzz

fuzz() { # PROGRAM: one line of result
  local program=$1 name corpus log words=()
  name=$(basename "$program" _fuzz)
  corpus=$work/corpus/$name log=$work/$name.log
  if [ -e "$root/tests/data/fuzz/dictionaries/$name" ]; then words=(-dict="$root/tests/data/fuzz/dictionaries/$name"); fi
  mkdir -p "$corpus" "$work/findings" "$root/tests/data/fuzz/$name"
  if "$program" "${words[@]}" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -seed="${SEED:-0}" \
    -artifact_prefix="$work/findings/$name-" "$corpus" "$root/tests/data/fuzz/$name" >"$log" 2>&1; then
    echo "ok    $name  $(sed -n 's/^Done \([0-9]* runs\).*/\1/p' "$log")"
  else
    echo "FAIL  $name  (build/fuzz/findings)"
    tail -n 30 "$log"
  fi
}

build fuzz
mapfile -t programs < <(find "$work" -name '*_fuzz' -type f -executable | sort)
if [ ${#programs[@]} = 0 ]; then
  echo "there is no fuzz target: skipped"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
echo "${#programs[@]} fuzz targets, $seconds s each"
export root work seconds
export -f fuzz
# shellcheck disable=SC2016
printf '%s\0' "${programs[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'fuzz "$0"' | tee "$work/results"
failed=$(grep -c '^FAIL  ' "$work/results" || true)
echo "$((${#programs[@]} - failed)) passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
