#!/usr/bin/env bash
# C++ is formatted by .clang-format. The kernel module has the kernel's style.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

mapfile -t sources < <(git -c safe.directory="$PWD" ls-files --cached --others --exclude-standard '*.cc' '*.h' ':!tests/softhca' |
  while read -r file; do [ ! -f "$file" ] || echo "$file"; done)
clang-format-14 --dry-run --Werror "${sources[@]}"
echo "format: ${#sources[@]} files ok"
