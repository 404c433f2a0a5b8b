#!/usr/bin/env bash
# The completion of ibpodctl in bash: commands, options, and values that are none of these.
set -euo pipefail
here=$(dirname "$(readlink -e "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in ibpodctl kubectl-ibpod; do ln -s "$(readlink -e "$1")" "$work/$name"; done
PATH=$work:$PATH
. "$here/ibpodctl.bash-completion"

fail() {
  echo "FAIL: $*"
  exit 1
}

# The words before the cursor are split at "=", as readline does.
completed() { # WORD...: the last one is at the cursor
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
  COMPREPLY=()
  _ibpodctl
  echo "${COMPREPLY[*]}"
}

expect() { # "COMPLETIONS" WORD...
  local found
  found=$(completed "${@:2}")
  [ "$found" = "$1" ] || fail "${*:2}: expected \"$1\", got \"$found\""
}

# Each word of --help is offered, and nothing else.
expect_all() { # WORD...: a command
  local offered shown
  offered=$(completed "$@" "" | tr ' ' '\n' | sort -u)
  shown=$({ "$@" --help; ibpodctl --help | sed '/^Subcommands:$/,$d'; } |
    sed -nE 's/^  (-[a-z],)?(--[a-z0-9-]+).*/\2/p; s/^  ([a-z][a-z-]+) .*/\1/p' | sort -u)
  [ "$offered" = "$shown" ] || fail "$*: $(diff <(echo "$offered") <(echo "$shown"))"
}

commands=0
all_commands() { # WORD...
  local command
  expect_all "$@"
  commands=$((commands + 1))
  for command in $("$@" --help | sed -n '/^Subcommands:$/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'); do all_commands "$@" "$command"; done
}

expect "partition" ibpodctl par
expect "create" ibpodctl partition cr
expect "create" kubectl-ibpod partition cr
expect "create" ibpodctl --json --sm host:1 partition cr
expect "--certificate" ibpodctl --ce
expect "--certificate" ibpodctl partition create --ce
expect "--membership" ibpodctl partition create --mem
expect "--namespace" ibpodctl explain --name
expect "member" ibpodctl plan partition mem
# A value that has the name of a command.
expect "create" ibpodctl --fabric node partition cr
expect "create" ibpodctl --fabric = node partition cr
expect "" ibpodctl partition create --allow no
expect "" ibpodctl explain -n no
cd "$here"
expect "completion_test.sh" ibpodctl --certificate completion_t
expect "completion_test.sh" ibpodctl --certificate = completion_t
all_commands ibpodctl
[ "$commands" -ge 20 ] || fail "only $commands commands"
echo "$commands commands"
