# ADD and DEL on one VF in turns: ours, a peer's, and the bare moves made by hand. Sourced in the guest by tests/bench/run;
# $COST is the program that measures, $PEER another plugin or empty. A call that is refused is the end.
# shellcheck shell=bash
set -euo pipefail
. "$ROOT/tests/vm/lib.sh"
rounds=9
aim=115 # an ADD may take this many percent of the bare moves
WORK=/run/bench
mkdir -p "$WORK"
# All from memory: what comes from the host's disk would be slower.
cp "$COST" "$IBPOD_BIN/cost"
if [ -n "$PEER" ]; then cp "$PEER" "$IBPOD_BIN/peer"; fi
vf=$(vf_pci 0 0)
pf=$(pf_netdev 0)

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

driver() { # unbind|bind
  local begin=${EPOCHREALTIME/./}
  echo "$vf" >"/sys/bus/pci/drivers/softhca/$1"
  bare=$((bare + ${EPOCHREALTIME/./} - begin))
}

tell_guid() { # GUID
  by_hand ip link set "$pf" vf 0 node_guid "$1"
  by_hand ip link set "$pf" vf 0 port_guid "$1"
}

bare_add() { # ISOLATION GUID: true or false, and another GUID or nothing
  local net
  if [ -n "$2" ]; then
    driver unbind
    tell_guid "$2"
    driver bind
  fi
  if [ "$1" = true ]; then by_hand rdma dev set "$(rdma_device host "$vf")" netns bench; fi
  # Up to 6.16 the interface is on the host now, later it is in the pod.
  net=$(netdev host "$vf")
  if [ -n "$net" ]; then
    by_hand ip link set "$net" netns bench name net1
  else
    by_hand ip -n bench link set "$(netdev bench "$vf")" name net1
  fi
  by_hand ip -n bench link set net1 up
}

# The same ways home that ours takes: unbinding fetches the devices, too.
bare_del() { # ISOLATION GUID
  if [ -n "$2" ]; then
    driver unbind
    tell_guid "$own_guid"
    driver bind
  elif [ "$1" = true ]; then
    by_hand nsenter --net=/run/netns/bench rdma dev set "$(rdma_device bench "$vf")" netns ../../proc/1/ns/net
  else
    by_hand ip -n bench link set net1 netns 1 name "$home"
  fi
  expect_eq "the interface is back" "$(netdev host "$vf")" "$home"
}

hand_over() { # ISOLATION GUID
  local bare=0 home
  home=$(netdev host "$vf")
  bare_add "$@"
  echo "$bare" >>"$WORK/bare.ADD"
  bare=0
  bare_del "$@"
  echo "$bare" >>"$WORK/bare.DEL"
}

# --- what is printed --------------------------------------------------------------------------------------------------

column() { cut -d' ' -f"$2" "$WORK/$1" | sort -n; } # LIST NUMBER
median() { column "$1" "$2" | sed -n "$(((rounds + 1) / 2))p"; }
mean() { awk -v column="$2" '{sum += $column} END {printf "%d", sum / NR}' "$WORK/$1"; } # the kernel counts in ticks
spread() { echo "$(($(column "$1" "$2" | head -1) / 1000))/$(($(median "$1" "$2") / 1000))/$(($(column "$1" "$2" | tail -1) / 1000))"; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN {printf "%.2f", a / b}'; }

row() { # WHO VERB
  local list=$1.$2 counted="-" beside="-" to_counted="-"
  if [ "$1" = bare ]; then
    printf '  %-9s %-16s\n' "$1 $2" "$(spread "$list" 1)"
    return
  fi
  if [ "$(median "$list" 5)" != 0 ]; then
    counted=$(($(median "$list" 5) / 1000)) beside=$(($(median "$list" 6) / 1000))
    to_counted=$(ratio "$(median "$list" 1)" "$(median "$list" 5)")
  fi
  printf '  %-9s %-16s %7d %7d %9d %10s %8s %12s %10s\n' "$1 $2" "$(spread "$list" 1)" $(($(mean "$list" 2) / 1000)) \
    $(($(mean "$list" 3) / 1000)) "$(column "$list" 4 | tail -1)" "$counted" "$beside" "$to_counted" \
    "$(ratio "$(median "$list" 1)" "$(median "bare.$2" 1)")"
}

table() {
  local who verb
  printf '  %-9s %-16s %7s %7s %9s %10s %8s %12s %10s\n' "" "wall ms" "user ms" "sys ms" "peak KiB" "kernel ms" "wait ms" \
    wall/kernel wall/bare
  for who in ours ${PEER:+peer} bare; do
    for verb in ADD DEL; do row "$who" "$verb"; done
  done
  echo "  an ADD: $(ratio "$(median ours.ADD 1)" "$(median ours.ADD 5)") of what our log counts as the kernel's," \
    "$(ratio "$(median ours.ADD 1)" "$(median bare.ADD 1)") of the moves by hand; aim $(ratio $aim 100)"
}

compare() { # TITLE ISOLATION [GUID]
  local i guid=${3:-} filter=".cniVersion = \"1.0.0\" | .rdmaIsolation = $2"
  if [ -n "$guid" ]; then filter+=" | .args.cni.guid = \"$guid\""; fi
  conf "$vf" "$filter"
  rm -f "$WORK"/{ours,peer,bare}.{ADD,DEL}
  for ((i = 0; i < rounds; i++)); do
    measure ours.ADD "$IBPOD_BIN/ib-sriov" ADD
    measure ours.DEL "$IBPOD_BIN/ib-sriov" DEL
    if [ -n "$PEER" ]; then
      measure peer.ADD "$IBPOD_BIN/peer" ADD
      measure peer.DEL "$IBPOD_BIN/peer" DEL
    fi
    hand_over "$2" "$guid"
  done
  echo "$1"
  table
}

own_guid=02:00:00:00:00:00:01:01
set_static_guid 0 0 "$own_guid"
ip netns add bench
learn_starts
echo "$rounds rounds in turns. wall: min/median/max; user, sys: mean; peak: the highest; kernel, wait: what our log says."
echo "bare: the same moves by hand, with ip, rdma and sysfs, less the shortest start of those tools."
echo "The tools' own work is still in it, more so on a busy machine: below the aim shows nothing, wall/kernel is the stricter one."
compare "isolation, the VF's own GUID" true
compare "isolation, another GUID (rebind)" true 02:00:00:00:00:00:aa:01
compare "no isolation, the VF's own GUID" false
