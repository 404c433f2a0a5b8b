# Two pods that talk while a case does something else: ten echoes a second over IPoIB, and RDMA reads, writes and sends over
# one RC connection (rping). Sourced after lib.sh. The network, the partition and the VFs (the fourth of each PF) are theirs.
# shellcheck shell=bash
talkers=(talker0 talker1)
talker_guids=(02:00:00:00:00:00:05:01 02:00:00:00:00:00:05:02)
talking=() # their processes
echoes_sent=0 echoes_answered=0 rdma_pings=0 # so far

talker_vf() { vf_pci "$1" 3; } # PF

prepare_talkers() { # once in a case
  local i
  for i in 0 1; do set_static_guid "$i" 3 "${talker_guids[i]}"; done
  partition talk "0x0005, indx0" "${talker_guids[0]}=full" "${talker_guids[1]}=full"
  for i in 0 1; do wait_for 10 has_pkey host "$(talker_vf "$i")" 0x8005; done
  # Messages take their time, or the emulated processors would do nothing but talk.
  fault "$(talker_vf 1)" delay_ms 20
}

start_traffic() { # KEYS: more of the talkers' configuration, a jq filter
  local i
  for i in 0 1; do
    new_pod "${talkers[i]}"
    conf_of "${talkers[i]}" "$(talker_vf "$i")" ".name = \"talk\" | .cniVersion = \"1.0.0\" | .pkey = \"0x8005\" |
      .ipam = {type: \"static\", addresses: [{address: \"10.11.0.$((i + 1))/24\"}]} | $1"
  done
  at_end silence
  at_once ADD "${talkers[@]}"
  wait_for 20 ip netns exec talker1 ping -c 1 -W 2 10.11.0.1
  start_rdma_pings
  start_echoes
}

# Fails where an echo was lost or the RC connection broke, or where there was not enough of either to say so.
stop_traffic() {
  stop_echoes
  stop_rdma_pings
  talking=()
  at_once DEL "${talkers[@]}"
  delete_pod talker0
  delete_pod talker1
}

# After a failure.
silence() { [ ${#talking[@]} = 0 ] || kill "${talking[@]}" 2>/dev/null || true; }

enough() { # WHAT NUMBER A-SECOND SINCE (ms)
  local want=$((($(milliseconds) - $4) * $3 / 1000))
  [ "$2" -ge "$want" ] || fail "$1: $2, want at least $want"
}

# --- echoes -----------------------------------------------------------------------------------------------------------

# As the pod's own counters have them: they also know of an answer that came when ping had ended.
icmp() { # OutEchos|InEchoReps
  # shellcheck disable=SC2016
  ip netns exec talker1 awk -v name="$1" '
    $1 != "Icmp:" {next}
    !names {names = split($0, name_of); next}
    {for (i = 1; i <= names; i++) if (name_of[i] == name) print $i}' /proc/net/snmp
}

start_echoes() {
  echoes_before="$(icmp OutEchos) $(icmp InEchoReps)" echoes_since=$(milliseconds)
  ip netns exec talker1 ping -q -i 0.1 10.11.0.1 >"$WORK/ping" 2>&1 &
  ping=$!
  talking+=("$ping")
}

all_answered() { [ "$(sent)" = "$(answered)" ]; }
sent() { echo $(($(icmp OutEchos) - ${echoes_before% *})); }
answered() { echo $(($(icmp InEchoReps) - ${echoes_before#* })); }

stop_echoes() {
  kill -INT "$ping" || fail "ping has ended: $(tail -n 3 "$WORK/ping")"
  wait "$ping" || true # it may have ended before the last answer, and calls that a loss
  enough "echoes sent" "$(sent)" 7 "$echoes_since"
  (wait_for 10 all_answered) || fail "$(answered) of $(sent) echoes answered: $(tail -n 3 "$WORK/ping")"
  echoes_sent=$((echoes_sent + $(sent))) echoes_answered=$((echoes_answered + $(answered)))
}

# --- RDMA -------------------------------------------------------------------------------------------------------------

pinged() { grep -c '^ping data' "$WORK/rping.client" || true; }
pinged_since() { [ "$(pinged)" -gt "$1" ]; }

# The connection's two queue pairs, as the kernel has them: "LQPN RQPN STATE".
rc_connection() {
  ip netns exec talker1 rdma resource show qp | sed -n "s/.*lqpn \([0-9]*\) rqpn \([0-9]*\) type RC state \([A-Z]*\) .*pid $rping .*/\1 \2 \3/p"
}

start_rdma_pings() {
  ip netns exec talker0 rping -s -a 10.11.0.1 >"$WORK/rping.server" 2>&1 &
  rping_server=$!
  talking+=("$rping_server")
  wait_for 20 listens_cm talker0
  # -V: what came back is what was sent. A line each, written at once.
  ip netns exec talker1 stdbuf -oL rping -c -v -V -a 10.11.0.1 >"$WORK/rping.client" 2>&1 &
  rping=$! rdma_since=$(milliseconds)
  talking+=("$rping")
  wait_for 20 pinged_since 0
  queue_pairs=$(rc_connection)
  expect_match "the RC connection" "$queue_pairs" "* RTS"
}

# rping connects once and ends with the connection's first error.
stop_rdma_pings() {
  local status=0
  (wait_for 10 pinged_since "$(pinged)") || fail "the RC stream stands still: $(tail -n 3 "$WORK"/rping.*)"
  expect_eq "the RC connection" "$(rc_connection)" "$queue_pairs"
  enough "RDMA pings" "$(pinged)" 1 "$rdma_since"
  rdma_pings=$((rdma_pings + $(pinged)))
  kill "$rping" || true
  wait "$rping" || status=$?
  expect_eq "the end of rping, by SIGTERM" "$status" 143
  # Perhaps with an error: it may have been reading what has just gone.
  wait "$rping_server" || true
}
