#!/usr/bin/env bash
# Attacks on ibpod-sm by one node's certificate and by none, beside a node that means well: its calls, ibpod-sm's memory.
#
# SECURITY_ATTACK=NAME is one of them (tests/fabric/security/attackers.cc), SECURITY_SECONDS=N how long each takes.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
. "$root/tests/tools.sh"

# A sanitizer would be measured, not ibpod-sm.
build measure fabric_security
if build/measure/bin/fabric_security; then
  echo "1 passed, 0 failed, 0 skipped"
else
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
