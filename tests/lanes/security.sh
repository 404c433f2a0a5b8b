#!/usr/bin/env bash
# Attacks on ibpod-sm beside a node that means well: its calls, ibpod-sm's memory, OpenSM. By connections of one node's
# certificate and of none; by three compromised nodes that bind as much as they may.
#
# SECURITY_ATTACK=NAME is one of the first (tests/fabric/security/attackers.cc), SECURITY_SECONDS=N how long each takes.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
. "$root/tests/tools.sh"

# A sanitizer would be measured, not ibpod-sm.
build measure fabric_security fabric_quota
passed=0 failed=0
attack() { # COMMAND...
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}
attack build/measure/bin/fabric_security
attack env QUOTA_SECONDS=60 build/measure/bin/fabric_quota
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
