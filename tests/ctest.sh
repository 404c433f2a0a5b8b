#!/usr/bin/env bash
# Builds and runs the tests of one label:  tests/ctest.sh PRESET LABEL
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/tests/tools.sh"
preset=$1 label=$2

# Records and intents are flushed to the disk again and again, which takes longer than all else.
programs_run_in() { # FOLDER
  local probe
  probe=$(mktemp -p "$1" 2>/dev/null) && printf '#!/bin/sh\n' >"$probe" && chmod +x "$probe" && "$probe"
  local status=$?
  rm -f "$probe"
  return "$status"
}
if [ -z "${TMPDIR:-}" ] && programs_run_in /dev/shm; then export TMPDIR=/dev/shm; fi

# Several tests wait for most of their time, so twice as many as there are processors run side by side.
build "$preset" "tier_$label"
results=$root/build/$preset/$label.xml status=0
rm -f "$results"
ctest --test-dir "$root/build/$preset" --label-regex "^$label\$" --parallel $((2 * $(nproc))) --output-on-failure \
  --no-tests=error --output-junit "$results" || status=$?

number() { sed -n "1,/>/s/.*[[:space:]]$1=\"\([0-9]*\)\".*/\1/p" "$results" | head -1; }
failed=$(number failures) skipped=$(number skipped)
if [ "$skipped" != 0 ]; then
  echo "skipped, each with its last words:"
  awk -F'"' '/<testcase / {name = $2} /status="notrun"/ {on = 1} on {text = text $0 "\n"}
    /<\/testcase>/ {if (on) print "  " name ": " said(text); on = 0; text = ""}
    function said(t) {sub(/.*<system-out>/, "", t); sub(/\n*<\/system-out>.*/, "", t); sub(/.*\n/, "", t); return t}' \
    "$results"
fi
echo "$(($(number tests) - failed - skipped)) passed, $failed failed, $skipped skipped"
exit "$status"
