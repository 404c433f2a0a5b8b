# Prints a story for a person at a terminal: headings, commands with their output, and statements that have to be true.
# Sourced after lib.sh.
# shellcheck shell=bash

tell() { printf '\n\033[1m%s\033[0m\n' "$*"; }
typed() { printf '\033[36m$ %s\033[0m\n' "$*"; }
run() { # COMMAND...
  typed "$*"
  "$@"
}
run_line() { # LINE: one with a pipe
  typed "$1"
  bash -c "$1"
}

# For what has to fail, with that exit code.
run_in_vain() { # STATUS COMMAND...
  local status=0
  run "${@:2}" || status=$?
  [ "$status" = "$1" ] || give_up "$2 has ended with $status, not $1"
}

give_up() {
  tail -n 5 "$WORK"/*.log 2>/dev/null
  printf '\033[31mthe demo stops here:\033[0m %s\n' "$*"
  exit 1
}
fail() { give_up "$@"; } # what wait_for and others of lib.sh end with

# The statement is true, or becomes true within some seconds.
claim() { # TEXT COMMAND...
  (wait_for 20 "${@:2}" >/dev/null) || give_up "it is not true that $1"
  printf '\033[32mok\033[0m  %s\n' "$1"
}
