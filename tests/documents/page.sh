# The blocks of a page of docs that need no machine of their own, run in a folder of their own. Sourced by a test that is called
#   TEST FOLDER    FOLDER: of the programs
# and that defines stand-ins for the other programs that the page calls.
# shellcheck shell=bash disable=SC2034
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
programs=$(readlink -e "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
calls=$work/calls # of the stand-ins, one a line
touch "$calls"

fail() {
  echo "FAIL: $*" >&2
  exit 1
}
expect_eq() { # WHAT GOT WANTED
  [ "$2" = "$3" ] || fail "$1: expected \"$3\", got \"$2\""
}

# In the present folder; what the blocks print is in $work/printed.
run_page() { # PAGE PLACE [SED-SCRIPT]
  awk -v place="$2" -f "$root/tests/blocks.awk" "$root/$1" | sed "${3:-}" >"$work/page"
  grep -q . "$work/page" || fail "$1 has no blocks for this test"
  page=$1
  set -E
  trap 'echo "FAIL: $page:$LINENO: $(sed -n "${LINENO}p" "$work/page")" >&2' ERR
  # shellcheck disable=SC1091
  . "$work/page" >"$work/printed"
  trap - ERR
}

# No agent and no service answers: of these commands only that they are ones is seen.
parsed_by_ibpodctl() { # ARGUMENT...
  local status=0
  "$programs/ibpodctl" --sm "unix:$work/no.sock" --timeout 1 "$@" >"$work/out" 2>&1 || status=$?
  case $*:$status in
    *:6) ;;
    "doctor"*:2) ;;
    *) fail "ibpodctl $*: exit code $status: $(cat "$work/out")" ;;
  esac
}

agent_accepts() { # CONFIGURATION: without a word
  local said
  said=$("$programs/ibpod-agent" --check-config --config "$1" --node n1) || fail "$said"
  expect_eq "warnings of $1" "$said" ""
}
