#!/usr/bin/env bash
# In a clean clone: ./check.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/tests/tools.sh"
. "$root/tests/clone.sh"
log=$root/build/clone-check.told
type_in_clone "$log" "host tests/lanes/clone-check.sh"
tail -n 1 "$log"
