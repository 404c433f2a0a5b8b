#!/usr/bin/env bash
# clang-tidy over every source; with FILES="a.cc b.cc" over those only.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/tests/tools.sh"
cd "$root"

install_packages tidy
# For the compile commands; nothing is built.
step "configuring" cmake --preset dev
if [ -z "${FILES:-}" ]; then
  FILES=$(git ls-files 'lib/*.cc' 'cni/*.cc' 'tests/*.cc' | xargs)
fi

tidy() { # FILE: one line of result
  local log checks=
  case $1 in
    tests/* | *_test.cc | *_fuzz.cc | *_bench.cc) checks="-performance-inefficient-*" ;; # nobody waits for a test's strings
  esac
  if log=$(clang-tidy-14 --quiet -p build/dev --checks="$checks" "$1" 2>&1); then
    echo "ok    $1"
  else
    echo "FAIL  $1"
    grep -vE '^[0-9]+ warnings? ' <<<"$log"
  fi
}
export -f tidy
results=build/tidy.results
# shellcheck disable=SC2016,SC2086
printf '%s\n' $FILES | xargs -n 1 -P "${JOBS:-$(nproc)}" bash -c 'tidy "$0"' | tee "$results"
failed=$(grep -c '^FAIL  ' "$results" || true)
echo "$(grep -c '^ok    ' "$results" || true) passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
