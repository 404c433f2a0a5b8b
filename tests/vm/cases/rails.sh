#!/bin/bash
# A node with a PF on each of two fabrics: pods with a VF of each are in their partition on both; what happens to one fabric is nothing to the other.
# deadline: 700
# full: agent
. "$ROOT/tests/vm/agent.sh"
. "$ROOT/tests/vm/sm.sh"
. "$ROOT/tests/vm/stage.sh"

declare -A pf_of=([east]=$PF0 [west]=$PF1) rail_of=([east]=0 [west]=1) prefix_of=([east]=1 [west]=2)
declare -A service_of=([east]=127.0.0.1:7473 [west]=127.0.0.1:7474) pkey_of=([east]=0x8001 [west]=0x8011) pid_of

# --- two subnets ------------------------------------------------------------------------------------------------------

# The second PF's port, at a switch of its own.
part_fabrics() {
  clear_stage
  at_end join_fabrics
  echo "$PF1" >/sys/bus/pci/drivers/softhca/unbind
  insmod "$SOFTHCA2"
  at_end fault2 0
  ip link set "$(pf_netdev 1)" up
}
join_fabrics() {
  clear_stage
  ip link set "$(pf_netdev 1)" down
  rmmod softhca2
  echo "$PF1" >/sys/bus/pci/drivers/softhca/bind
  ip link set "$(pf_netdev 1)" up
  stage_as_before 2
}

service_conf() { # FABRIC
  mkdir -p "$WORK/$1"
  echo "subnet_prefix 0xfe8000000000000${prefix_of[$1]}" >"$WORK/$1.options"
  jq -n --arg work "$WORK" --arg fabric "$1" --arg rail "${rail_of[$1]}" --arg address "${service_of[$1]}" \
    --arg device "$(rdma_device host "${pf_of[$1]}")" --arg port "$(port_guid host "${pf_of[$1]}")" '"\($work)/\($fabric)" as $own | {
    fabric: $fabric, stateDir: "\($own)/state", socket: "\($own).sock", metricsAddress: "unix:\($own).metrics",
    opensm: {port: $port, sweepSeconds: 1, moreOptionsFile: "\($own).options"}, look: {device: $device, scanSeconds: 2},
    pkeys: [{first: "0x0001", last: "0x00ff", use: "explicit"}],
    guids: [{first: "02:00:00:00:00:00:0\($rail):00", last: "02:00:00:00:00:00:0\($rail):ff"}],
    listen: {address: $address, certificate: "\($work)/sm.crt", key: "\($work)/sm.key", ca: "\($work)/ca.crt"},
    roles: [{match: "CN=system:node:*", role: "node"}]}' >"$WORK/$1.json"
}
start_service() { # FABRIC
  ibpod-sm --config "$WORK/$1.json" >>"$WORK/$1.log" 2>&1 &
  pid_of[$1]=$!
  at_end end_service "$1"
  at_end tail -n 12 "$WORK/$1.log"
  wait_for 60 at "$1" partition list
}
end_service() { # FABRIC: its OpenSM goes on
  if [ -z "${pid_of[$1]}" ]; then return 0; fi
  kill "${pid_of[$1]}"
  wait "${pid_of[$1]}" || true
  pid_of[$1]=""
}
end_both_opensms() { pkill -9 -x opensm; }
fault2() { echo "$1" >"/sys/kernel/debug/softhca2/$PF1/down"; } # 1: the cable is out

at() { ibpodctl --sm "unix:$WORK/$1.sock" --fabric "$1" "${@:2}"; } # FABRIC COMMAND...

# --- a node on both ---------------------------------------------------------------------------------------------------

# shellcheck disable=SC2016
conf_for() { # [PREFIX-OF-WEST]
  agent_conf '.pfs = [{rootDevices: ["'"$PF0"'", "'"$PF1"'"], numVfs: 2}] | .fabrics = [
    {name: "east", service: "'"${service_of[east]}"'", subnetPrefix: "fe80:0000:0000:0001"},
    {name: "west", service: "'"${service_of[west]}"'", subnetPrefix: "'"${1:-fe80:0000:0000:0002}"'"}] |
    .fabrics[] += {certificate: "\($work)/vm.crt", key: "\($work)/vm.key", ca: "\($work)/ca.crt"}'
}

has_vfs() { # NUMBER: that could be given out
  [ "$(ctl --json devices | jq '[.[] | select(.pf != null and .pf != "" and .healthy and .state == "ACTIVE")] | length')" = "$1" ]
}
vf() { vf_pci "${rail_of[$1]}" "$2"; } # FABRIC VF

# POD-N has VF N of each PF: net1 is on east, net2 on west; both through one network.
plug() { # ADD|DEL POD FABRIC [FILTER]
  local number=${2#pod-} interface=net$((rail_of[$3] + 1))
  conf "$(vf "$3" "$number")" '.partition = "blue" | .cniVersion = "1.0.0" | .rdmaIsolation = true |
    .ipam = {type: "static"} | '"${4:-.}"
  cni "$1" "$2" "$interface" \
    CNI_ARGS="IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=$2;IP=$(address_of "$2" "$3")/24" <"$WORK/conf"
}
must_plug() { # ADD|DEL POD FABRIC
  plug "$@"
  expect_eq "$*: exit code" "$rc" 0
}
address_of() { echo "10.$((7 + rail_of[$2])).0.$((${1#pod-} + 1))"; }                            # POD FABRIC
reaches() { within pod-0 ping -q -c 1 -W 2 "$(address_of pod-1 "$1")" >/dev/null; }              # FABRIC
bound_at() { at "$1" --json binding list | jq -r '[.[] | "\(.containerID):\(.ifname)"] | sort | join(" ")'; }
is_bound_at() { [ "$(bound_at "$1")" = "$2" ]; }                                                 # FABRIC "NAME..."
finds_away() { { ctl --json doctor || true; } | jq -e --arg fabric "$1" '[.[] | select(.check == "sm-service") | .text] |
  length == 1 and (.[0] | contains("fabric " + $fabric))'; } # FABRIC
is_reached() { [ "$(metric "ibpod_sm_service_reached{fabric=\"$1\"}")" = "$2" ]; }               # FABRIC 1|0

say "two subnets"
make_certificates 127.0.0.1
at_end plain_opensm
stop_opensm
part_fabrics
at_end end_both_opensms
for fabric in east west; do
  service_conf "$fabric"
  start_service "$fabric"
  at "$fabric" partition create blue --pkey "0x00${pkey_of[$fabric]:4}" --membership full --index0 --ipoib yes --allow default
done

say "a node on both"
conf_for
at_end rm -f /var/lib/ibpod/agent
start_agent
wait_for 120 has_vfs 4
for fabric in east west; do
  for number in 0 1; do
    expect_match "a GUID of $fabric's pool" "$(port_guid host "$(vf "$fabric" "$number")")" "0200:0000:0000:0${rail_of[$fabric]}*"
  done
done

say "two pods, each with a VF of both"
for pod in pod-0 pod-1; do
  new_pod "$pod"
  for fabric in east west; do
    must_plug ADD "$pod" "$fabric"
    expect_match "P_Keys of $pod on $fabric" "$(pkeys "$pod" "$(vf "$fabric" "${pod#pod-}")")" "0:${pkey_of[$fabric]}*"
  done
done
for fabric in east west; do
  wait_for 10 reaches "$fabric"
done
expect_eq "bound at east" "$(bound_at east)" "pod-0:net1 pod-1:net1"
expect_eq "bound at west" "$(bound_at west)" "pod-0:net2 pod-1:net2"

say "one service away: the other fabric's pods come and go"
must_plug DEL pod-1 west
end_service west
plug ADD pod-1 west '.timeoutSeconds = 3'
expect_error 11 "*partition blue: not verified: *127.0.0.1:7474*"
wait_for 60 finds_away west
wait_for 10 is_reached east 1
wait_for 10 is_reached west 0
must_plug DEL pod-1 east
expect_eq "bound at east" "$(bound_at east)" "pod-0:net1"
must_plug ADD pod-1 east
start_service west
wait_for 60 is_bound_at west "pod-0:net2"
wait_for 60 has_records "pod-0:net1 pod-0:net2 pod-1:net1"

say "an agent that starts in between has both again"
end_agent KILL
start_agent
must_plug ADD pod-1 west
wait_for 10 reaches west
must_plug DEL pod-0 west
expect_eq "bound at east" "$(bound_at east)" "pod-0:net1 pod-1:net1"
expect_eq "bound at west" "$(bound_at west)" "pod-1:net2"

# A PF's port that is not up is on none of them, and a pod's end waits for it.
port_is_down() {
  fault2 1
  wait_for 20 is_down host "$PF1"
  plug ADD pod-0 west '.timeoutSeconds = 3'
  expect_error 11 "*cannot determine the fabric of PF $PF1: its port is down*"
  must_plug DEL pod-1 west
  expect_eq "records" "$(records)" "pod-0:net1 pod-1:net1 pod-1:net2"
  fault2 0
  wait_for 60 is_active host "$PF1"
  wait_for 60 is_bound_at west ""
  wait_for 60 has_records "pod-0:net1 pod-1:net1"
  must_plug ADD pod-1 west
}

# A PF on a subnet without an SM service.
subnet_is_unknown() {
  end_agent TERM
  conf_for fe80:0000:0000:0009
  start_agent
  plug ADD pod-0 west '.timeoutSeconds = 3'
  [ "$rc" != 0 ] || fail "it is in a partition of another fabric"
  expect_match "why" "$(jq -r '.msg + .details' <<<"$out")" "*PF $PF1 is on the subnet fe80:0000:0000:0002, not on*fabric east manages*fabric west manages*"
  expect_eq "bound at west" "$(bound_at west)" "pod-1:net2"
  end_agent TERM
  conf_for
  start_agent
}

for situation in $(sample 1 port_is_down subnet_is_unknown); do
  say "$situation"
  "$situation"
done

for pod in pod-0 pod-1; do
  for fabric in east west; do must_plug DEL "$pod" "$fabric"; done
done
for fabric in east west; do wait_for 20 is_bound_at "$fabric" ""; done
wait_for 20 has_records ""
