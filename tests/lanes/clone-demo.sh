#!/usr/bin/env bash
# In a clean clone: ./demo, which takes less than two minutes after the build, and what else is to be typed in a checkout.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/tests/tools.sh"
. "$root/tests/clone.sh"
log=$root/build/clone-demo.told
type_in_clone "$log" "host tests/lanes/clone-demo.sh"
took=$(sed -n 's/^The end, after .*, \([0-9]*\) s from power-on\.$/\1/p' "$log")
[ -n "$took" ] || die "the story has no end"
[ "$took" -lt 120 ] || die "the story has taken $took s"
echo "the story: $took s from power-on to its end"
echo "1 passed, 0 failed, 0 skipped"
