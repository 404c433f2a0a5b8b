#!/bin/bash
# The faults for which every ADD on a node with a fabric would fail are reported before: a foreign GUID, another subnet, an expired certificate, a service
# that is away, a network without a partition. The agent stays up through all of it, and goes on by itself once it is corrected.
# deadline: 1500
# lane: doctor
. "$ROOT/tests/vm/sm.sh"
. "$ROOT/tests/vm/agent.sh"
# (agent.sh last: both read lib.sh, whose told() is another one)

vf=$(vf_pci 0 1) foreign=$(vf_pci 0 2)
set_static_guid 0 1 02:00:00:00:00:00:01:01
set_static_guid 0 2 02:00:00:00:00:bb:00:01

# shellcheck disable=SC2053
says_why() { [[ $(told "$1" reason) == $2 ]]; } # PCI GLOB
# The findings of `ibpodctl doctor`: "SUBJECT: TEXT -> REMEDY" a line.
found() { { ctl --json doctor || true; } | jq -r '.[] | "\(.check): \(.text) -> \(.remedy)"'; }
finds_on_node() { found | grep -q "$1"; }         # PATTERN
finds_not_on_node() { ! finds_on_node "$1"; }     # PATTERN
unhealthy() { metric "ibpod_unhealthy_devices{pool=\"example.com\/vfs\",reason=\"$1\"}"; } # REASON
counts_unhealthy() { [ "$(unhealthy "$1")" -ge 1 ]; } # REASON
end_of() { metric 'ibpod_node_certificate_expiry_timestamp_seconds{fabric="default"}'; }
usable() { metric 'ibpod_node_certificate_usable{fabric="default"}'; }
refused_handshakes() { curl -sf --unix-socket "$WORK/metrics.sock" http://sm/metrics | sed -n 's/^ibpod_sm_failed_handshakes_total{reason="certificate"} //p'; }
in_blue() { conf "$1" ".partition = \"blue\" | .timeoutSeconds = ${2:-20}"; } # PCI [SECONDS]

serve_node 02:00:00:00:00:00:01:01
sm partition create blue --pkey 0x0001 --membership full --allow default
at_end tail -n 20 "$WORK/agent.log"
start_marking_agent "$by_tls"
show_devices() { ctl devices || true; }
at_end show_devices
new_pod p1
wait_for 120 tells "$vf" healthy true

say "a VF with a GUID that the service does not know"
wait_for 30 says_why "$foreign" "the SM service of fabric default does not know port 02:00:00:00:00:bb:00:01 as a VF of this node"
wait_for 10 finds_on_node "^$foreign: no partition can be bound: port .* -> .*nodes.NODE.guids"
wait_for 10 counts_unhealthy unknownGuid
in_blue "$foreign"
refuse 103 "*is not known as a VF of node vm*" p1

say "the remedy: it is named, and the service is restarted"
end_sm
sm_conf "$for_nodes" 02:00:00:00:00:00:01:01 02:00:00:00:00:bb:00:01
run_sm
wait_for 90 tells "$foreign" healthy true
wait_for 10 finds_not_on_node "^$foreign: no partition"
add p1
del p1

say "a network that names no partition"
expect_eq "the mark" "$(jq -r .withoutPartition /var/lib/ibpod/agent)" refuse
conf "$vf" 'del(.pkey)'
refuse 7 "partition: the network names none; this node's agent refuses*" p1
conf "$vf" 'del(.pkey) | .thePartition = "blue"'
refuse 7 "*the key \"thePartition\" is unknown: did you mean \"partition\"*" p1
agent_conf "$by_tls | .withoutPartition = \"allow\""
wait_for 20 grep -q "configuration loaded: changed: withoutPartition" "$WORK/agent.log"
conf "$vf" 'del(.pkey)'
add p1
agent_conf "$by_tls"
wait_for 20 grep -c "configuration loaded: changed: withoutPartition" "$WORK/agent.log"
del p1

say "the agent starts with a certificate that has expired, and stays up"
end_agent TERM
cp "$WORK/vm.crt" "$WORK/good.crt"
openssl req -new -key "$WORK/vm.key" -subj /CN=system:node:vm |
  openssl x509 -req -CA "$WORK/ca.crt" -CAkey "$WORK/ca.key" -CAcreateserial -days -1 -out "$WORK/vm.crt"
expired="vm.crt: expired at $(date -ud "$(openssl x509 -noout -enddate -in "$WORK/vm.crt" | cut -d= -f2)" +%FT%TZ)"
start_agent
wait_for 20 says_why "$vf" "cannot use this node's certificate for the SM service of fabric default: *$expired"
wait_for 10 finds_on_node "^certificate: cannot use this node's certificate for the SM service of fabric default: .*$expired -> issue a new certificate"
wait_for 10 grep -q "the node's certificate for fabric default: .*$expired" "$WORK/agent.log"
expect_eq "its end" "$(date -ud "@$(printf %.0f "$(end_of)")" +%FT%TZ)" "${expired##* }"
expect_eq "usable" "$(usable)" 0
counts_unhealthy noCertificate || fail "it is not counted"
in_blue "$vf" 3
call ADD p1
expect_error 11 "*$expired*" # its record stays: nobody can be asked whether the port is in a partition

say "what ibpod-sm says of a client with such a certificate"
if ibpodctl --sm 127.0.0.1:7473 --certificate "$WORK/vm.crt" --key "$WORK/vm.key" --ca "$WORK/ca.crt" partition list; then fail "it is let in"; fi
# Its end of input ends it: not before the service has read the certificate.
sleep 5 | timeout 30 openssl s_client -connect 127.0.0.1:7473 -alpn h2 -cert "$WORK/vm.crt" -key "$WORK/vm.key" 2>&1 | tail -n 5 || true
wait_for 10 grep -q "TLS handshake failed: certificate verify failed: a client's certificate has expired" "$WORK/sm.log"
[ "$(refused_handshakes)" -ge 1 ] || fail "it is not counted"

say "the renewed one is used without a restart"
pid=$agent_pid
mv "$WORK/good.crt" "$WORK/vm.crt"
wait_for 60 tells "$vf" healthy true
expect_eq "the agent" "$agent_pid" "$pid"
wait_for 10 finds_not_on_node "^certificate:"
expect_eq "usable" "$(usable)" 1
wait_for 60 has_records "" # the agent has asked
in_blue "$vf"
add p1
del p1

say "a subnet that is not the PF's"
end_agent TERM
agent_conf "$by_tls | .fabrics[].subnetPrefix = \"fe80:0000:0000:0009\""
start_agent
wait_for 20 says_why "$vf" "PF $PF0 is on the subnet fe80:0000:0000:0000, not on fe80:0000:0000:0009*"
wait_for 10 finds_on_node "^$PF0: no partition can be bound: .* -> correct subnetPrefix"
wait_for 10 counts_unhealthy wrongSubnet
in_blue "$vf"
refuse 104 "*PF $PF0 is on the subnet*" p1
end_agent TERM
agent_conf "$by_tls"
start_agent
wait_for 20 tells "$vf" healthy true

say "the service is away: for a moment nothing happens, after two minutes its VFs are not offered, and then they are again"
end_sm
wait_for 60 finds_on_node "^sm-service: the SM service of fabric default cannot be reached"
tells "$vf" healthy true || fail "a service that is away for a moment makes it unhealthy"
wait_for 200 says_why "$vf" "the SM service of fabric default cannot be reached*"
wait_for 10 counts_unhealthy noSmService
run_sm
wait_for 60 tells "$vf" healthy true
in_blue "$vf"
add p1
del p1
