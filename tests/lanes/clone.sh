#!/usr/bin/env bash
# What README and docs say to type in a checkout, in a clean clone of what is committed; the story takes less than two minutes.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/tests/tools.sh"
export CI=true IBPOD_CACHE=${IBPOD_CACHE:-$root/build/vm/kernels}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone --quiet "$root" "$work/ibpod"
cd "$work/ibpod"

# Blocks for other places are left out: elsewhere PLACE HEADING.
{
  echo 'elsewhere() { :; }'
  for document in README.md docs/*.md; do awk -v place="host tests/lanes/clone.sh" -f tests/blocks.awk "$document"; done
} >"$work/commands"
bash -e "$work/commands" 2>&1 </dev/null | tee "$work/log"

took=$(sed -n 's/^The end, after \([0-9]*\) s.*/\1/p' "$work/log")
[ -n "$took" ] || die "the story has no end"
[ "$took" -lt 120 ] || die "the story has taken $took s"
counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$work/log" | tail -n 1)
[ -n "$counts" ] || die "no tests have run"
echo "the story: $took s"
echo "$counts"
