#!/usr/bin/env bash
# install.sh, killed before each of its commands and in the middle of a copy: what is on the node is an old file or a new
# one, and the next run puts it right.
set -euo pipefail
here=$(dirname "$(readlink -e "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAIL: $*"
  exit 1
}

# Old and new programs, of different sizes; one of them is new on the node, and one stays as it is.
fresh_node() {
  rm -rf "$work"/{from,to,old}
  mkdir "$work"/{from,to,old}
  seq 20000 >"$work/old/ib-sriov"
  seq 5 >"$work/old/foreign"
  seq 7 >"$work/old/same"
  cp -p "$work/old"/* "$work/to"
  seq 30000 >"$work/from/ib-sriov"
  seq 10000 >"$work/from/ipoib"
  cp -p "$work/old/same" "$work/from/same"
}

is() { cmp -s "$work/to/$1" "$work/$2/$1"; } # NAME from|old
whole() { # NAME: it is what it was, or what it is to be
  if [ -e "$work/old/$1" ] && is "$1" old; then return; fi
  is "$1" from || [ ! -e "$work/to/$1" ]
}

expect_whole() { # WHEN
  local name
  for name in ib-sriov ipoib same foreign; do whole "$name" || fail "$1: $name is neither the old nor the new one"; done
  if [ -n "$(find "$work/to" -type f ! -name '.*' -name '*new*')" ]; then fail "$1: an unfinished file without a dot"; fi
}

expect_done() { # WHEN
  local name
  for name in ib-sriov ipoib same; do is "$name" from || fail "$1: $name is not the new one"; done
  [ -x "$work/to/ipoib" ] || fail "$1: ipoib is not executable"
  is foreign old || fail "$1: another's file has changed"
  [ "$(find "$work/to" -name '.*.new')" = "" ] || fail "$1: something is left over"
}

install() { "$here/install.sh" programs "$work/from" "$work/to" >/dev/null; }

# Bash runs the script, and this before each of its commands.
# shellcheck disable=SC2016
echo 'set -o functrace; trap "[ \$((point += 1)) != \$KILL_AT ] || kill -9 \$\$" DEBUG' >"$work/trap"
install_killed_at() { # POINT: whether it was killed
  ! KILL_AT=$1 BASH_ENV=$work/trap bash "$here/install.sh" programs "$work/from" "$work/to" >/dev/null
}

killed_between() {
  local point
  for ((point = 1; ; point++)); do
    fresh_node
    if ! install_killed_at "$point" 2>/dev/null; then break; fi
    expect_whole "killed before command $point"
    install
    expect_done "after a kill before command $point"
  done
  [ "$point" -gt 20 ] || fail "killed at $point points only"
  expect_done "the last one"
  echo "killed before each of $((point - 1)) commands"
}

# The copy ends half way, and the script with it.
killed_in_copy() {
  fresh_node
  mkdir -p "$work/bin"
  # shellcheck disable=SC2016
  printf '#!/bin/bash\nhead -c 1000 "$1" >"$2"\nkill -9 $PPID\n' >"$work/bin/cp"
  chmod +x "$work/bin/cp"
  if PATH=$work/bin:$PATH install; then fail "it has survived its copy"; fi
  expect_whole "killed in a copy"
  install
  expect_done "after a kill in a copy"
  echo "killed in a copy"
}

# It is busy for who would write into it.
running() {
  local pid
  fresh_node
  rm "$work/to/ib-sriov"
  cp "$(command -v sleep)" "$work/to/ib-sriov"
  "$work/to/ib-sriov" 60 &
  pid=$!
  until [ "$(readlink "/proc/$pid/exe")" = "$work/to/ib-sriov" ]; do :; done
  install
  expect_done "over a program that runs"
  kill "$pid" || fail "the program has not gone on"
  wait "$pid" 2>/dev/null || true
  echo "a program that runs goes on"
}

same_is_not_touched() {
  local before
  fresh_node
  install
  before=$(stat -c '%n %i %Z' "$work/to"/*)
  install
  [ "$(stat -c '%n %i %Z' "$work/to"/*)" = "$before" ] || fail "the same files were written again"
  echo "what is there already is not touched"
}

two_at_once() {
  local i pids=()
  fresh_node
  for i in {1..8}; do
    install &
    pids+=($!)
  done
  for i in "${pids[@]}"; do wait "$i" || fail "one of eight"; done
  expect_done "eight at once"
  echo "eight at once"
}

configuration() {
  fresh_node
  echo '{}' >"$work/from/20-ibpod.conflist"
  "$here/install.sh" configuration "$work/from/20-ibpod.conflist" "$work/to" >/dev/null
  is 20-ibpod.conflist from || fail "the configuration is not there"
  [ "$(stat -c %a "$work/to/20-ibpod.conflist")" = 644 ] || fail "its mode"
  [ ! -e "$work/to/ipoib" ] || fail "programs are among configurations"
  if "$here/install.sh" programs "$work/from" "$work/nowhere" 2>/dev/null; then fail "a folder that is not there"; fi
  if "$here/install.sh" programs "$work/from" 2>/dev/null; then fail "two words"; fi
  echo "a configuration"
}

# As the manifests run it: root's, with no capability.
without_capabilities() {
  if [ "$(id -u)" != 0 ]; then return; fi
  fresh_node
  chown -R root "$work/to"
  # shellcheck disable=SC2016
  setpriv --bounding-set=-all --inh-caps=-all --no-new-privs \
    bash -c 'grep -q "^CapEff:[[:space:]]*0*$" /proc/self/status && exec "$0" programs "$1" "$2"' \
    "$here/install.sh" "$work/from" "$work/to" >/dev/null || fail "it needs a capability"
  expect_done "without capabilities"
  echo "without capabilities"
}

without_capabilities
killed_between
killed_in_copy 2>/dev/null
running
same_is_not_touched
two_at_once
configuration
