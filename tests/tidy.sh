#!/usr/bin/env bash
# clang-tidy over the sources of some folders:  tests/tidy.sh [--sample N] FOLDER...
# With --sample over N of them, chosen by SEED; with FILES="a.cc b.cc" over those only.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/tests/tools.sh"
cd "$root"

sample=
if [ "${1:-}" = --sample ]; then
  sample=$2
  shift 2
fi

# The compile commands, and the generated headers; nothing else is built.
generate() {
  local headers
  cmake --preset dev
  headers=$(ninja -C build/dev -t targets all | sed -n 's/^\(proto[^:]*\.pb\.h\): .*/\1/p')
  # shellcheck disable=SC2086
  ninja -C build/dev $headers
}
install_packages tidy
step "generating sources for clang-tidy" generate

if [ -z "${FILES:-}" ]; then
  FILES=$(git ls-files -- "$@" | grep '\.cc$') || die "no sources in $*"
  if [ -n "$sample" ]; then
    FILES=$(awk -v seed="${SEED:-0}" 'BEGIN {srand(seed)} {print rand() "\t" $0}' <<<"$FILES" | sort -n | head -n "$sample" | cut -f2)
  fi
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
