#!/usr/bin/env bash
# Every shell script of the tree passes shellcheck, whatever its name ends in.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

mapfile -t scripts < <(git -c safe.directory="$PWD" ls-files --cached --others --exclude-standard | while read -r file; do
  if [ -f "$file" ] && { [[ $file == *.sh ]] || head -c 40 "$file" | grep -aqE '^#!.*[/ ](ba)?sh( |$)'; }; then
    echo "$file"
  fi
done)
# Each by itself: what it sources is not followed (SC1091), which would take ten times as long, so neither are the variables that come
# from there (SC2154), nor arguments of functions (SC2119). Busybox's shell is checked as Debian's dash (SC2187).
printf '%s\0' "${scripts[@]}" | xargs -0 -n 16 -P "$(nproc)" shellcheck --exclude=SC1091,SC2119,SC2154,SC2187
echo "shell: ${#scripts[@]} files ok"
