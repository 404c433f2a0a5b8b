# ADD and DEL in turns: ours, a peer's, and the bare moves made by hand. Sourced in the guest, by way of lib.sh, before the
# script of a plugin, which says what the bare moves are. $PROGRAM is ours, $COST the program that measures, $PEER another
# plugin or empty. A call that is refused is the end.
# shellcheck shell=bash disable=SC2153
set -euo pipefail
. "$ROOT/tests/vm/lib.sh"
rounds=9
aim=115 # an ADD may take this many percent of the bare moves
WORK=/run/bench
mkdir -p "$WORK"
# All from memory: what comes from the host's disk would be slower.
cp "$COST" "$IBPOD_BIN/cost"
if [ -n "$PEER" ]; then cp "$PEER" "$IBPOD_BIN/peer"; fi

# --- plugins ----------------------------------------------------------------------------------------------------------

# Adds "wall user system peak kernel waiting" to the list: microseconds, the peak in KiB. The last two are what our log
# counts.
measure() { # LIST PROGRAM VERB
  local rc=0 counted
  rm -f "$WORK/cost"
  CNI_COMMAND=$3 CNI_CONTAINERID=bench CNI_NETNS=/run/netns/bench CNI_IFNAME=net1 \
    cost "$WORK/cost" "$2" <"$WORK/conf" >"$WORK/out" 2>"$WORK/err" || rc=$?
  if [ "$rc" != 0 ]; then
    cat "$WORK/out" "$WORK/err"
    fail "$1: exit $rc"
  fi
  counted=$(sed -n 's/.*"msg":"succeeded".*"kernel_us":\([0-9]*\),"wait_us":\([0-9]*\).*/\1 \2/p' "$WORK/err")
  echo "$(<"$WORK/cost") ${counted:-0 0}" >>"$WORK/$1"
}

# How many system calls and threads it takes: one call of its own, as strace makes it slow. What it starts, such as an
# IPAM plugin, counts, too.
count_calls() { # LIST PROGRAM VERB: "calls threads"
  local trace=$WORK/trace
  CNI_COMMAND=$3 CNI_CONTAINERID=bench CNI_NETNS=/run/netns/bench CNI_IFNAME=net1 \
    strace -f -qq -o "$trace" -- "$2" <"$WORK/conf" >"$WORK/out" 2>"$WORK/err" || fail "$1, traced: $(cat "$WORK/out" "$WORK/err")"
  echo "$(calls_in "$trace") $(threads_in "$trace")" >"$WORK/$1.counted"
}

# --- the bare moves ---------------------------------------------------------------------------------------------------

time_of() { # COMMAND...: sets $wall
  rm -f "$WORK/cost"
  cost "$WORK/cost" "$@" >"$WORK/out" 2>&1 || fail "$*: $(<"$WORK/out")"
  read -r wall _ <"$WORK/cost"
}

# The least that starting a tool has taken: what is above it on a busy machine stays in the bare moves, as it does in ours.
declare -A start_of
learn_starts() {
  local i tool wall
  for tool in ip rdma "nsenter --net=/run/netns/bench rdma"; do
    for ((i = 0; i < 9; i++)); do
      # shellcheck disable=SC2086
      time_of $tool -V
      if [ "$wall" -lt "${start_of[${tool%% *}]:-999999999}" ]; then start_of[${tool%% *}]=$wall; fi
    done
  done
}

by_hand() { # TOOL ARGUMENT...: its wall time, without the tool's start, goes onto $bare
  local wall
  time_of "$@"
  bare=$((bare + wall - start_of[$1]))
}

# --- what is printed --------------------------------------------------------------------------------------------------

column() { cut -d' ' -f"$2" "$WORK/$1" | sort -n; } # LIST NUMBER
median() { column "$1" "$2" | sed -n "$(((rounds + 1) / 2))p"; }
mean() { awk -v column="$2" '{sum += $column} END {printf "%d", sum / NR}' "$WORK/$1"; } # the kernel counts in ticks
spread() { echo "$(($(column "$1" "$2" | head -1) / 1000))/$(($(median "$1" "$2") / 1000))/$(($(column "$1" "$2" | tail -1) / 1000))"; }
processor() { echo $(($(mean "$1" 2) + $(mean "$1" 3))); } # LIST: user and system, microseconds
size_of() { stat -c %s "$IBPOD_BIN/$1"; }                 # PROGRAM
ratio() { awk -v a="$1" -v b="$2" 'BEGIN {printf "%.2f", a / b}'; }

row() { # WHO VERB
  local list=$1.$2 counted="-" beside="-" to_counted="-" calls threads
  if [ "$1" = bare ]; then
    printf '  %-9s %-16s\n' "$1 $2" "$(spread "$list" 1)"
    return
  fi
  if [ "$(median "$list" 5)" != 0 ]; then
    counted=$(($(median "$list" 5) / 1000)) beside=$(($(median "$list" 6) / 1000))
    to_counted=$(ratio "$(median "$list" 1)" "$(median "$list" 5)")
  fi
  read -r calls threads <"$WORK/$list.counted"
  printf '  %-9s %-16s %7d %7d %9d %10s %8s %12s %10s %6d %8d\n' "$1 $2" "$(spread "$list" 1)" $(($(mean "$list" 2) / 1000)) \
    $(($(mean "$list" 3) / 1000)) "$(column "$list" 4 | tail -1)" "$counted" "$beside" "$to_counted" \
    "$(ratio "$(median "$list" 1)" "$(median "bare.$2" 1)")" "$calls" "$threads"
}

table() {
  local who verb
  printf '  %-9s %-16s %7s %7s %9s %10s %8s %12s %10s %6s %8s\n' "" "wall ms" "user ms" "sys ms" "peak KiB" "kernel ms" \
    "wait ms" wall/kernel wall/bare calls threads
  for who in ours ${PEER:+peer} bare; do
    for verb in ADD DEL; do row "$who" "$verb"; done
  done
  echo "  an ADD: $(ratio "$(median ours.ADD 1)" "$(median ours.ADD 5)") of what our log counts as the kernel's," \
    "$(ratio "$(median ours.ADD 1)" "$(median bare.ADD 1)") of the moves by hand; aim $(ratio $aim 100)"
  if [ -n "$PEER" ]; then
    echo "  of the peer's: wall $(ratio "$(median ours.ADD 1)" "$(median peer.ADD 1)")," \
      "without our wait $(ratio "$(($(median ours.ADD 1) - $(median ours.ADD 6)))" "$(median peer.ADD 1)")," \
      "processor time $(ratio "$(processor ours.ADD)" "$(processor peer.ADD)")," \
      "size $(ratio "$(size_of "$PROGRAM")" "$(size_of peer)") ($(size_of "$PROGRAM") and $(size_of peer) bytes)"
  fi
}

# One network with a plugin's own bare_add and bare_del, which add their times to $bare.
compare() { # TITLE ARGUMENT...: those of the bare moves; the network is in $WORK/conf
  local i title=$1 bare
  shift
  rm -f "$WORK"/{ours,peer,bare}.{ADD,DEL}
  for ((i = 0; i < rounds; i++)); do
    measure ours.ADD "$IBPOD_BIN/$PROGRAM" ADD
    measure ours.DEL "$IBPOD_BIN/$PROGRAM" DEL
    if [ -n "$PEER" ]; then
      measure peer.ADD "$IBPOD_BIN/peer" ADD
      measure peer.DEL "$IBPOD_BIN/peer" DEL
    fi
    bare=0
    bare_add "$@"
    echo "$bare" >>"$WORK/bare.ADD"
    bare=0
    bare_del "$@"
    echo "$bare" >>"$WORK/bare.DEL"
  done
  local who program verb
  for who in ours ${PEER:+peer}; do
    program=$IBPOD_BIN/$PROGRAM
    if [ "$who" = peer ]; then program=$IBPOD_BIN/peer; fi
    for verb in ADD DEL; do count_calls "$who.$verb" "$program" "$verb"; done
  done
  echo "$title"
  table
}

ip netns add bench
learn_starts
echo "$rounds rounds in turns. wall: min/median/max; user, sys: mean; peak: the highest; kernel, wait: what our log says."
echo "bare: the same moves by hand, with ip, rdma and sysfs, less the shortest start of those tools."
echo "The tools' own work is still in it, more so on a busy machine: below the aim shows nothing, wall/kernel is the stricter one."
