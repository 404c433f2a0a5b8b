#!/usr/bin/env bash
# The unit tests on this machine with the char of arm64, which is unsigned.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
exec "$root/tests/ctest.sh" unsigned-char unit
