#!/usr/bin/env bash
# The quick VM cases, part 2 of 4, fifty times each (or ROUNDS=N) beside a load.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/tests/steady.sh"
run_quick_cases 2
