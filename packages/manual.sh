#!/usr/bin/env bash
# Prints the manual page of a program: its --help and that of each of its commands, by help2man, and the texts of
# packages/man/NAME.SECTION.h2m.
#
#   packages/manual.sh PROGRAM VERSION
set -euo pipefail
here=$(dirname "$(readlink -e "${BASH_SOURCE[0]}")")

# A plugin prints it on standard error. A default that is this machine's own name is not the reader's.
help_of() { # WORD...: a program, and a command of it
  "$@" --help 2>&1 | sed -E 's/^(  --node TEXT=)\S+/\1HOSTNAME/; s/^(  -\w),--/\1, --/'
}

# The commands below one.
commands_of() { # WORD...
  help_of "$@" | sed -n '/^Subcommands:$/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'
}

# The part of one command: its usage as a heading, what it does, its arguments and options. Those of all commands are left out.
command_text() { # WORD...
  help_of "$@" | awk '
    NR == 1 {what = $0; next}
    sub(/^Usage: /, "") {print $0 ":\n\n" what "\n"; next}
    /^(Positionals|Options):$/ {shown = 1; next}
    /^[^ ]/ {shown = 0}
    shown && NF && !/^  -h, --help /'
  echo
}

all_commands() { # WORD...
  local command
  for command in $(commands_of "$@"); do
    command_text "$@" "$command"
    all_commands "$@" "$command"
  done
}

# The text for help2man: a line between stars begins a section.
whole_help() { # PROGRAM
  help_of "$1" | awk '/^Subcommands:$/ {hidden = 1} /^Exit codes:/ {hidden = 0; print "*Exit status*"} !hidden'
  if [ -n "$(commands_of "$1")" ]; then
    printf '\n*Commands*\n'
    all_commands "$1"
  fi
}

if [ "$1" = --whole-help ]; then
  whole_help "$2"
  exit
fi
name=${1##*/}
text=$(echo "$here/man/$name".[18].h2m)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '#!/bin/sh\nexec "%s" --whole-help "%s"\n' "$here/manual.sh" "$(readlink -e "$1")" >"$work/$name"
chmod +x "$work/$name"
section=${text%.h2m}
# A command's usage is a heading: help2man takes no line with brackets for one.
LC_ALL=C.UTF-8 TZ=UTC help2man --no-info --no-discard-stderr --section="${section##*.}" --source="ibpod $2" --version-string="$2" \
  --include="$text" "$work/$name" | sed -E "s/^($name [a-z].*):\$/.SS \"\1\"/"
