# The commands that the pages of the root and docs give for a checkout: the blocks that name a lane, as they are
# written, in a clean clone of the committed tree. Sourced, after tests/tools.sh.
# shellcheck shell=bash disable=SC2154
export CI=true IBPOD_CACHE=${IBPOD_CACHE:-$root/build/vm/kernels}

type_in_clone() { # LOG PLACE: as the blocks name it, "host tests/lanes/NAME.sh"
  local log=$1 document work
  work=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$work'" EXIT
  git clone --quiet "$root" "$work/ibpod"
  {
    echo 'elsewhere() { :; }' # for blocks that are run in another place
    for document in "$root"/*.md "$root"/docs/*.md; do awk -v place="$2" -f "$root/tests/blocks.awk" "$document"; done
  } >"$work/commands"
  (cd "$work/ibpod" && bash -e "$work/commands" 2>&1 </dev/null) | tee "$log"
}
