#!/usr/bin/env bash
# Every shell script of the tree passes shellcheck, whatever its name ends in.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

mapfile -t scripts < <(git -c safe.directory="$PWD" ls-files --cached --others --exclude-standard | while read -r file; do
  if [ -f "$file" ] && { [[ $file == *.sh ]] || head -c 40 "$file" | grep -aqE '^#!.*[/ ](ba)?sh( |$)'; }; then
    echo "$file"
  fi
done)
# Files that are sourced by a computed path are checked on their own (SC1091), so what they set is unknown (SC2154).
# Busybox's shell is checked as Debian's dash (SC2187).
printf '%s\0' "${scripts[@]}" | xargs -0 -n 8 -P "$(nproc)" shellcheck --exclude=SC1091,SC2154,SC2187
echo "shell: ${#scripts[@]} files ok"
