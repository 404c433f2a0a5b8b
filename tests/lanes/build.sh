#!/usr/bin/env bash
# Measures the build: each tree from nothing, three edits up to the first test, and the headers that cost most.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
. "$root/tests/tools.sh"
work=$root/build/cost log=$root/build/build-cost.log
export CCACHE_DISABLE=1
TIMEFORMAT='%R s, %U + %S s of processor time'

# All that a tree builds, or the targets named.
cost() { # PRESET [TARGET...]
  local preset=$1 tree=$work/$1 objects
  shift
  rm -rf "$tree"
  cmake --preset "$preset" -B "$tree" >"$log"
  objects=$(ninja -C "$tree" -n "$@" | grep -c 'Building CXX object')
  printf '%-8s %-14s %4d objects, ' "$preset" "${*:-all}" "$objects"
  time ninja -C "$tree" "$@" >"$log" || { tail -n 30 "$log"; die "$preset does not build"; }
}

cost release demo
cost release
cost asan
cost tsan tier_threads
cost fuzz fuzz_targets
# From a change of the file to the end of a test that it has a part in.
edit() { # FILE TEST
  printf '%-30s to %s: ' "$1" "$2"
  touch "$1"
  time { ninja -C "$work/asan" "$2" && "$work/asan/bin/$2"; } >"$log" 2>&1 || { tail -n 30 "$log"; die "$2 fails"; }
}
edit lib/ib/guid.cc ib_test
edit lib/base/result.h base_test
edit api/ibpod/v1/fabric.proto fabricapi_test
rm -rf "$work/headers"
cmake --preset asan -B "$work/headers" -D CMAKE_CXX_FLAGS=-ftime-trace >"$log"
ninja -C "$work/headers" >"$log"
python3 -B "$root/tests/bench/headers.py" "$work/headers"
rm -rf "$work"
echo "1 passed, 0 failed, 0 skipped"
