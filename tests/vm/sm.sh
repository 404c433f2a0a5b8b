# The cluster's SM service, for the cases about it: ibpod-sm, and the OpenSM that it starts in place of the node's own.
# shellcheck shell=bash disable=SC2016,SC2034
. "$ROOT/tests/vm/lib.sh"

sm_pid=""
sm_socket=$WORK/sm.sock
sm_opensm=$WORK/state/opensm # the folder of its OpenSM

# Writes the service's configuration, changed by a jq filter, "." for none. The VFs named are the node's.
sm_conf() { # FILTER GUID...
  jq -n --arg work "$WORK" --arg device "$(rdma_device host "$PF0")" --arg pf "$(port_guid host "$PF0")" '{
    stateDir: "\($work)/state", socket: "\($work)/sm.sock", metricsAddress: "unix:\($work)/metrics.sock",
    opensm: {port: $pf, sweepSeconds: 1}, look: {device: $device, scanSeconds: 2},
    pkeys: [{first: "0x0001", last: "0x00ff", use: "explicit"}], nodes: {vm: {guids: $ARGS.positional}}} | '"$1" --args "${@:2}" >"$WORK/sm.json"
}

# For a service that nodes ask over TCP: a CA, the service's own certificate, and those of the nodes ("vm", where none is
# named); filters for the configurations of both sides.
make_certificates() { # ADDRESS [NODE...]: where the service listens
  local node
  new_key ca
  openssl req -x509 -key "$WORK/ca.key" -subj /CN=ca -days 2 -out "$WORK/ca.crt"
  issue sm /CN=ibpod-sm "subjectAltName = IP:$1"
  shift
  for node in "${@:-vm}"; do issue "$node" "/CN=system:node:$node" ""; done
}
new_key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$WORK/$1.key"; } # NAME
issue() { # NAME SUBJECT EXTENSIONS
  new_key "$1"
  openssl req -new -key "$WORK/$1.key" -subj "$2" |
    openssl x509 -req -CA "$WORK/ca.crt" -CAkey "$WORK/ca.key" -CAcreateserial -days 2 -extfile <(echo "$3") -out "$WORK/$1.crt"
}
for_nodes='.listen = {address: "127.0.0.1:7473", certificate: "\($work)/sm.crt", key: "\($work)/sm.key", ca: "\($work)/ca.crt"} |
  .roles = [{match: "CN=system:node:*", role: "node"}]'
by_tls='.fabrics = [{service: "127.0.0.1:7473", certificate: "\($work)/vm.crt", key: "\($work)/vm.key", ca: "\($work)/ca.crt"}]'

# The service as the node's agent asks it. The VFs named are the node's.
serve_node() { # GUID...
  make_certificates 127.0.0.1
  sm_conf "$for_nodes" "$@"
  start_sm
}

# In place of the node's OpenSM, for the rest of the case; returns when OpenSM does what the service wants.
start_sm() {
  at_end plain_opensm
  at_end end_opensm
  at_end end_sm
  at_end tail -n 12 "$WORK/sm.log"
  stop_opensm
  run_sm
  wait_for 60 serves
}

run_sm() { # returns when it answers
  ibpod-sm --config "$WORK/sm.json" >>"$WORK/sm.log" 2>&1 &
  sm_pid=$!
  wait_for 60 sm partition list
}

# OpenSM goes on. Fails if the service does not end in peace.
end_sm() {
  local status=0
  if [ -z "$sm_pid" ]; then return 0; fi
  kill "$sm_pid" 2>/dev/null || true
  wait "$sm_pid" 2>/dev/null || status=$?
  sm_pid=""
  if [ "$status" = 0 ]; then return 0; fi
  echo "ibpod-sm has ended with $status:"
  tail -n 40 "$WORK/sm.log"
  return "$status"
}

# Now and then it hangs at its end, where its port has gone down meanwhile.
end_opensm() { no_opensm || (stop_opensm) || { pkill -9 -x opensm || true; (wait_for 20 no_opensm); }; }

# Ports that an M_Key has locked are open to everybody again; the switch always is among them.
forget_keys() { # KEY PCI...
  local from place number info
  from=$(rdma_device host "$PF0")
  while read -r place number; do
    info=$(M_KEY=0x$1 smp "$from" "$place" 0x15 "$number")
    info=$(patch "$info" 0 0000000000000000)
    M_KEY=0x$1 smp "$from" "$place" 0x15 "$number" "$(patch "$info" 34 00)" >/dev/null
  done < <(echo "0,1 0"; for pci in "${@:2}"; do echo "$(path_to "$pci") 1"; done)
}

# A number of the service's own metrics; empty where it has none of that name.
sm_metric() { curl -sf --max-time 5 --unix-socket "$WORK/metrics.sock" http://sm/metrics | sed -n "s/^$1 //p"; } # NAME

sm() { ibpodctl --sm "unix:$sm_socket" "$@"; }

# "serving", or what the subnet manager is instead; and what is wrong with the fabric: a subject, a text and a remedy a line.
doctor() { { sm --json doctor --fabric-only --all || true; } | jq -r '.[] | "\(.check): \(.text) -> \(.remedy)"'; }
serves() { [[ $(doctor) == "SM service: serving"* ]]; }
finds() { doctor | grep -q "$1"; }          # PATTERN
finds_nothing() { ! finds "$1"; }           # PATTERN

# "STATE PROOF ENFORCEMENT REASON: TEXT" of a binding of the node "vm", when the service answers.
ask_bind() { fabric_call "$sm_socket" bind vm "$@"; }     # CONTAINER GUID SECONDS PARTITION...
ask_unbind() { fabric_call "$sm_socket" unbind vm "$@"; } # CONTAINER SECONDS
state_of() { # CONTAINER: the same, now
  sm --json binding get vm "$1" net1 | jq -r '"\(.state) \(.proof // "none") \(.enforcement) \(.reason): \(.text)"'
}
# shellcheck disable=SC2053
is_state() { [[ $(state_of "$1") == $2 ]]; } # CONTAINER GLOB

is_unbound() { [ "$(sm --json binding list | jq length)" = 0 ]; } # nobody is bound

# Tells the service what the table of a function holds, by the sysfs of its namespace or by a copy of it.
observe() { # POD PCI GUID [SYSFS]
  within "$1" fabric_call "$sm_socket" observe vm "$3" "$(rdma_device "$1" "$2")" "${@:4}"
}
