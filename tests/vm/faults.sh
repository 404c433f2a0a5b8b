# The fault loop (tests/vm/fault_loop.cc) over a verb of $plugin, for the cases about it: on a sample of its steps, or on
# every one where the case runs whole. Sourced after lib.sh.
# shellcheck shell=bash disable=SC2154

mkdir "$WORK/leases"
echo "seed $SEED"

network() { # NAME PCI KEYS [IPAM-KEYS]: with an IPAM that speaks 1.1.0, as GC came with that version
  cat >"$WORK/$1.conf" <<J
{"cniVersion": "1.1.0", "name": "$1", "type": "$plugin", "deviceID": "$2", $3,
 "ipam": {"type": "plain", "folder": "$WORK/leases"${4:-}}, "cni.dev/valid-attachments": []}
J
}

# Those of its points that were asked for, or all.
loop() { # VERB POINTS SCENARIO...
  local verb=$1 points=$2 scenario confs=()
  shift 2
  if [ "$FULL" = 1 ]; then points=all; fi
  for scenario; do confs+=("$WORK/$scenario.conf"); done
  VERB=$verb POINTS=$points PLUGIN=$(find_plugin) CNI_PATH=$CNI_PATH:$ROOT/tests/vm/ipam LEASES=$WORK/leases \
    DEVICE_INFO=$WORK/devinfo fault_loop "${confs[@]}" | tee -a "$WORK/said"
}

sum_up() { # WHAT-ELSE: of all loops of the case
  awk -v rest="$1" '
    /^note:/ {tried += $2; of += $4; del += $7; gc += $11}
    END {printf "note: %d of %d points tried, %d recovered by DEL, %d by GC%s\n", tried, of, del, gc, rest}' "$WORK/said"
}
