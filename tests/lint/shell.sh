#!/usr/bin/env bash
# Every shell script of the tree passes shellcheck, whatever its name ends in.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

mapfile -t scripts < <(git -c safe.directory="$PWD" ls-files --cached --others --exclude-standard | while read -r file; do
  if [ -f "$file" ] && { [[ $file == *.sh ]] || head -c 40 "$file" | grep -aqE '^#!.*[/ ](ba)?sh( |$)'; }; then
    echo "$file"
  fi
done)
# Sourced files are followed when they are given too, so every batch has those that the cases share. What is sourced by a
# computed path is not (SC1091, SC2154). Busybox's shell is checked as Debian's dash (SC2187).
shared=$(echo tests/tools.sh tests/vm/*.sh)
export shared
# shellcheck disable=SC2016
printf '%s\0' "${scripts[@]}" | xargs -0 -n 24 -P "$(nproc)" bash -c 'shellcheck --exclude=SC1091,SC2154,SC2187 "$@" $shared' _
echo "shell: ${#scripts[@]} files ok"
