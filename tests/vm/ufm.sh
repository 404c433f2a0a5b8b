# A stand-in for UFM (docs/ufm-stand-in.md), which writes the partitions.conf of the node's own OpenSM; and ibpod-sm with the
# engine for UFM.
# shellcheck shell=bash disable=SC2016,SC2034
. "$ROOT/tests/vm/sm.sh"

with_ufm='.engine = "ufm" | del(.opensm) | .ufm = {addresses: ["https://127.0.0.1:7443"], user: "ibpod",
  passwordFile: "\($work)/password", caFile: "\($work)/ca.crt", readSeconds: 5, effectSeconds: 2}'

# For the rest of the case; make_certificates has been called. The node's OpenSM goes on, with the partitions of UFM.
start_ufm() {
  issue ufm /CN=ufm "subjectAltName = IP:127.0.0.1"
  (umask 077; echo 5ec7e7 >"$WORK/password")
  pidof opensm >"$WORK/opensm.pid"
  jq -n --arg work "$WORK" --arg partitions "$partitions" '{
    tls: {listen: "127.0.0.1:7443", certificate: "\($work)/ufm.crt", key: "\($work)/ufm.key"},
    control: "unix:\($work)/ufm.sock", users: [{name: "ibpod", password: "5ec7e7"}],
    rest: {version: "6.23.1-6", default_membership: "limited", m_key_per_port: false},
    partitions_file: $partitions, opensm_pid_file: "\($work)/opensm.pid"}' >"$WORK/ufm.json"
  cp "$partitions" "$WORK/partitions"
  at_end restore_partitions
  at_end end_ufm
  fake_ufm "$WORK/ufm.json" >"$WORK/ufm.log" 2>&1 &
  ufm_pid=$!
  wait_for 20 grep -q '^fake_ufm is ready' "$WORK/ufm.log"
}
end_ufm() {
  kill "$ufm_pid"
  wait "$ufm_pid"
}

# ibpod-sm with that UFM, as the node's agent asks it. The VFs named are the node's.
serve_with_ufm() { # FILTER GUID...
  sm_conf "$for_nodes | $with_ufm | $1" "${@:2}"
  at_end end_sm
  at_end tail -n 12 "$WORK/sm.log"
  run_sm
  wait_for 60 serves
}

# The control path of the stand-in, which no client of UFM has.
ufm_control() { # METHOD WHAT [BODY]
  curl -sf --max-time 10 --unix-socket "$WORK/ufm.sock" -X "$1" ${3:+-d "$3"} "http://ufm/stand-in/$2"
}
ufm_serves() { ufm_control PUT serving "{\"on\": $1}" >/dev/null; } # true|false

# As another administrator does it.
as_another() { # OPERATION PKEY GUID [MEMBERSHIP]
  local answer
  answer=$(ufm_control POST calls "{\"operation\": \"$1\", \"pkey\": \"$2\", \"guids\": [\"${3//:/}\"]${4:+, \"membership\": \"$4\"}}")
  expect_eq "another administrator's $1" "$(jq .status <<<"$answer")" 200
}

# "full", "limited", or "none" for a GUID that is no member.
stored() { # PKEY GUID
  ufm_control GET partitions | jq -r --arg pkey "$1" --arg guid "${2//:/}" '.[$pkey].members[$guid].membership // "none"'
}
is_stored() { [ "$(stored "$1" "$2")" = "$3" ]; } # PKEY GUID MEMBERSHIP

# By UFM's own log of ibpod-sm: the P_Keys that it has changed, or has tried to; and the requests that name a P_Key,
# to read it or to change it.
written_pkeys() {
  ufm_control GET log |
    jq -r '[.[] | select(.caller == "ibpod" and (.operation | test("post|add|put|remove|delete|qos"))) | .pkey] | unique | join(" ")'
}
requests_naming() { # PKEY, as 0x1234
  ufm_control GET log | jq -r --arg pkey "$1" --arg digits "${1#0x}" '
    .[] | select(.caller == "ibpod" and (.pkey == $pkey or (.path | test("/(0x)?0*" + $digits + "(/|$)"; "i")))) | .path'
}
