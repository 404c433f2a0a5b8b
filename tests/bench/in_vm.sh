# ADD and DEL on one VF, ours and a peer's in turns. Sourced in the guest by tests/bench/run; $PEER may be empty.
# shellcheck shell=bash
. "$ROOT/tests/vm/lib.sh"
rounds=9
mkdir -p "${WORK:=/run/bench}"
vf=$(vf_pci 0 0)

# Calls a plugin; adds "wall cpu kernel waiting" in microseconds to its list. The kernel's share is known of ours only.
measure() { # LIST PROGRAM COMMAND
  local begin end cpu
  TIMEFORMAT='%3U %3S'
  begin=${EPOCHREALTIME/./}
  cpu=$({ time env CNI_COMMAND="$3" CNI_CONTAINERID=bench CNI_NETNS=/run/netns/bench CNI_IFNAME=net1 CNI_PATH="$CNI_PATH" \
    "$2" <"$WORK/conf" >"$WORK/out" 2>"$WORK/err"; } 2>&1)
  end=${EPOCHREALTIME/./}
  if grep -q '"code"' "$WORK/out"; then cat "$WORK/out" "$WORK/err"; fi
  local kernel wait
  kernel=$(sed -n 's/.*"msg":"succeeded".*"kernel_us":\([0-9]*\).*/\1/p' "$WORK/err")
  wait=$(sed -n 's/.*"msg":"succeeded".*"wait_us":\([0-9]*\).*/\1/p' "$WORK/err")
  echo "$((end - begin)) $(awk '{printf "%d", ($1 + $2) * 1000000}' <<<"$cpu") ${kernel:-0} ${wait:-0}" >>"$WORK/$1"
}

column() { cut -d' ' -f"$2" "$WORK/$1" | sort -n; } # LIST NUMBER
median() { column "$1" "$2" | sed -n "$(((rounds + 1) / 2))p"; }

row() { # WHAT LIST
  printf '  %-18s wall %4d/%4d/%4d ms  own CPU %4d ms' "$1" $(($(column "$2" 1 | head -1) / 1000)) \
    $(($(median "$2" 1) / 1000)) $(($(column "$2" 1 | tail -1) / 1000)) $(($(median "$2" 2) / 1000))
  if [ "$(median "$2" 3)" != 0 ]; then
    printf '  kernel %4d ms  waiting %d ms  wall/kernel %d.%02d' $(($(median "$2" 3) / 1000)) $(($(median "$2" 4) / 1000)) \
      $(($(median "$2" 1) / $(median "$2" 3))) $(($(median "$2" 1) * 100 / $(median "$2" 3) % 100))
  fi
  echo
}

compare() { # TITLE CONFIGURATION
  local i who
  jq -c --arg vf "$vf" '. + {cniVersion: "1.0.0", name: "bench", type: "ib-sriov", deviceID: $vf}' <<<"$2" >"$WORK/conf"
  rm -f "$WORK"/{ours,peer}.{ADD,DEL}
  for ((i = 0; i < rounds; i++)); do
    for who in ours ${PEER:+peer}; do
      local program=$IBPOD_BIN/ib-sriov
      if [ "$who" = peer ]; then program=$PEER; fi
      measure "$who.ADD" "$program" ADD
      measure "$who.DEL" "$program" DEL
    done
  done
  echo "$1 (min/median/max of $rounds)"
  for who in ours ${PEER:+peer}; do
    row "$who ADD" "$who.ADD"
    row "$who DEL" "$who.DEL"
  done
}

set_static_guid 0 0 02:00:00:00:00:00:01:01
ip netns add bench
compare "isolation, the VF's own GUID" '{"rdmaIsolation": true}'
compare "isolation, another GUID (rebind)" '{"rdmaIsolation": true, "args": {"cni": {"guid": "02:00:00:00:00:00:aa:01"}}}'
compare "no isolation, the VF's own GUID" '{}'
ip netns delete bench
rm -rf "$WORK"
