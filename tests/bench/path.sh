# The whole path of a pod in the test VM: with the SM service and a node's agent, whose ADD ends when the port's own table is
# right, and without, where nobody asks for a partition. A call that is refused is the end. $COST is the program that measures.
# shellcheck shell=bash disable=SC2016,SC2034,SC2154
set -euo pipefail
WORK=/run/bench
mkdir -p "$WORK"
. "$ROOT/tests/vm/agent.sh"
. "$ROOT/tests/vm/sm.sh"
. "$ROOT/tests/vm/time_line.sh"
node_config '{logLevel: "debug"}'
rounds=21 workers=4 pods=48
: >"$WORK/sm.log"
cp "$COST" "$IBPOD_BIN/cost"
read -ra vfs <<<"$(for pf in 0 1; do for vf in 0 1 2 3; do vf_pci "$pf" "$vf"; done; done | xargs)"
guids=() # of those VFs
for pf in 0 1; do
  for vf in 0 1 2 3; do
    guids+=("02:00:00:00:00:00:0$((pf + 1)):0$((vf + 1))")
    set_static_guid "$pf" "$vf" "${guids[-1]}"
  done
done

# --- calls ----------------------------------------------------------------------------------------------------------------

network_of() { # VF FILTER
  jq -n --arg pci "$1" '{cniVersion: "1.0.0", name: "ibnet", type: "ib-sriov", deviceID: $pci, rdmaIsolation: true,
    ipam: {type: "static", addresses: [{address: "10.7.0.1/24"}]}} | '"$2"
}
with='.partition = "blue"' without='.'

invoke() { # VERB POD CONF: its output, log and cost in files named POD.*; when it was called and came back in $began and $ended
  rm -f "$WORK/$2.cost"
  began=${EPOCHREALTIME/./}
  CNI_COMMAND=$1 CNI_CONTAINERID=$2 CNI_NETNS=/run/netns/$2 CNI_IFNAME=net1 \
    CNI_ARGS="IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=$2" \
    cost "$WORK/$2.cost" "$IBPOD_BIN/$plugin" <"$3" >"$WORK/$2.out" 2>"$WORK/$2.log" || fail "$1 $2: $(cat "$WORK/$2.out" "$WORK/$2.log")"
  ended=${EPOCHREALTIME/./}
}

# One pod after the other; MODE is with or without.
calls_in_turn() { # MODE
  local i
  network_of "${vfs[0]}" "${!1}" >"$WORK/conf"
  for ((i = 0; i < rounds; i++)); do
    invoke ADD "$1$i" "$WORK/conf"
    steps_of "$WORK/$1$i.log" "$WORK/sm.log" "$1$i" "$began" "$ended" |
      awk -v mode="$1" -v whole="$(cut -d' ' -f1 "$WORK/$1$i.cost")" -f "$ROOT/tests/vm/steps.awk" -f "$ROOT/tests/bench/parts.awk" >>"$WORK/parts"
    bind_of "$1" "$1$i" >>"$WORK/parts"
    invoke DEL "$1$i" "$WORK/conf"
    printf '%s\tDEL\t%d\n' "$1" "$(cut -d' ' -f1 "$WORK/$1$i.cost")" >>"$WORK/parts"
  done
}

# The parts of a Bind's time that were ibpod-sm's own, and those of OpenSM and the port, from its log.
bind_of() { # MODE CONTAINER
  jq -rs --arg mode "$1" --arg container "$2" '
    map(select(.container == $container and .turn_us)) | select(length > 0) |
    (map(.turn_us) | add) as $own | (map(.us // 0) | max) as $whole |
    [$mode, "Bind: ibpod-sm", $own], [$mode, "Bind: OpenSM and port", $whole - $own], [$mode, "Bind: whole", $whole] | @tsv' "$WORK/sm.log"
}

# Several at a time, each on VFs of its own.
calls_at_once() { # MODE: sets $rate, pods a second
  local worker begin=${EPOCHREALTIME/./} running=()
  for ((worker = 0; worker < workers; worker++)); do
    network_of "${vfs[worker]}" "${!1} | .ipam.addresses[0].address = \"10.7.0.$((worker + 1))/24\"" >"$WORK/conf.$worker"
    pods_of "$1" "$worker" &
    running+=($!)
  done
  for worker in "${running[@]}"; do wait "$worker" || fail "a pod $1 the service"; done
  rate=$(awk -v pods="$pods" -v us=$((${EPOCHREALTIME/./} - begin)) 'BEGIN {printf "%.2f", pods * 1000000 / us}')
}
pods_of() { # MODE WORKER
  local i verb
  for ((i = $2; i < pods; i += workers)); do
    for verb in ADD DEL; do
      invoke "$verb" "$1$2" "$WORK/conf.$2"
      cat "$WORK/$1$2.cost" >>"$WORK/costs.$1"
    done
  done
}

# --- what is printed --------------------------------------------------------------------------------------------------------

peak_of() { awk '/^VmHWM/ {printf "%.1f", $2 / 1024}' "/proc/$1/status"; }
peak() { printf 'peak\t%s\t%s\n' "$1" "$2"; } # PROGRAM MIB
peak_of_costs() { sort -k4n "$@" | awk 'END {printf "%.1f", $4 / 1024}'; } # FILE...

# An IPoIB child on a PF, into a partition and out again.
call_ipoib() {
  local plugin=ipoib verb
  sm partition create flat --pkey 0x0002 --membership full --ipoib yes --allow default >"$WORK/created"
  jq -n --arg pf "$PF1" '{cniVersion: "1.0.0", name: "flat", type: "ipoib", pf: $pf, partition: "flat",
    ipam: {type: "static", addresses: [{address: "10.9.0.1/24"}]}}' >"$WORK/conf.ipoib"
  for verb in ADD DEL; do
    invoke "$verb" with0 "$WORK/conf.ipoib"
    cat "$WORK/with0.cost" >>"$WORK/costs.ipoib"
    list_bindings
  done
}
list_bindings() { cost "$WORK/costs.ibpodctl" "$IBPOD_BIN/ibpodctl" --sm "unix:$sm_socket" --json binding list >"$WORK/listed"; }

names=() # of pods
for ((i = 0; i < rounds; i++)); do names+=("with$i" "without$i"); done
for ((i = 0; i < workers; i++)); do names+=("with$i" "without$i"); done
for pod in $(printf '%s\n' "${names[@]}" | sort -u); do make_netns "$pod"; done

calls_in_turn without
calls_at_once without
printf 'rate\twithout\t%s\n' "$rate"

serve_node "${guids[@]}"
end_sm
jq --arg pf "$(port_guid host "$PF1")" '.logLevel = "debug" | .nodes.vm.pfs = [$pf]' "$WORK/sm.json" >"$WORK/sm.new"
mv "$WORK/sm.new" "$WORK/sm.json"
run_sm
wait_for 60 serves
sm partition create blue --pkey 0x0001 --membership full --index0 --ipoib yes --allow default >"$WORK/created"
start_marking_agent "$by_tls"
calls_in_turn with
calls_at_once with
printf 'rate\twith\t%s\n' "$rate"

sort -t $'\t' -k1,1 -k2,2 -k3,3n "$WORK/parts" | awk -F '\t' -v OFS='\t' '
  function told() { if (n) print "part", key[1], key[2], of[1], of[int((n + 1) / 2)], of[n] }
  $1 FS $2 != known {told(); n = 0; known = $1 FS $2; split(known, key, FS)}
  {of[++n] = $3}
  END {told()}'
call_ipoib
peak "ib-sriov, with the service" "$(peak_of_costs "$WORK/costs.with")"
peak "ib-sriov, without" "$(peak_of_costs "$WORK/costs.without")"
peak "ipoib, with the service" "$(peak_of_costs "$WORK/costs.ipoib")"
peak ibpodctl "$(peak_of_costs "$WORK/costs.ibpodctl")"
peak ibpod-agent "$(peak_of "$agent_pid")"
peak ibpod-sm "$(peak_of "$sm_pid")"
peak "OpenSM (its own)" "$(peak_of "$(pgrep -x opensm)")"
