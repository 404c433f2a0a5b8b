# Pods that try everything: each runs a prober (tests/vm/probes), which sends to every other one by every way there is, and
# tells what it should not have got. Sourced after lib.sh.
# shellcheck shell=bash disable=SC2034
declare -A prober_pid=() # POD: of its prober, while it runs
probes=$WORK             # of all of them, also of those that run for calls made aside

# In a pod whose RDMA device is its own.
start_prober() { # POD PARTITIONS [ADDRESS]
  mkdir -p "$probes/cards" "$probes/probers"
  ip netns exec "$1" prober "$probes/cards" "$@" >>"$probes/probers/$1" 2>&1 &
  prober_pid[$1]=$!
  at_end end_prober "$1"
  (wait_for 20 test -e "$probes/cards/$1") || { cat "$probes/probers/$1"; fail "the prober of $1 does not begin"; }
}

# To all that are there, by every way.
has_spoken() { # POD
  local others
  others=$(find "$probes/cards" -type f ! -name "$1" ! -name '.*' -printf '%f\n')
  [ -z "$others" ] || [ "$(awk '$1 == "rc" && $NF == 1 {print $2}' "$probes/cards/$1" | sort -u)" = "$(sort <<<"$others")" ]
}

end_prober() { # POD
  if [ -z "${prober_pid[$1]:-}" ]; then return 0; fi
  kill "${prober_pid[$1]}" 2>/dev/null || true
  wait "${prober_pid[$1]}" 2>/dev/null || true
  unset "prober_pid[$1]"
}

# Fails where anything came that must not have.
stop_prober() { # POD
  local status=0
  kill "${prober_pid[$1]}"
  wait "${prober_pid[$1]}" || status=$?
  unset "prober_pid[$1]"
  [ "$status" = 0 ] || { tail -n 30 "$probes/probers/$1"; fail "the prober of $1 has ended with $status"; }
}

# Its device is taken away while it sends: it ends by itself.
outlive_device() { # POD
  local status=0
  (wait_for 30 has_ended "$1") || fail "the prober of $1 goes on without a device"
  wait "${prober_pid[$1]}" || status=$?
  unset "prober_pid[$1]"
  expect_eq "what the prober of $1 has ended with" "$status" 2
}
has_ended() { ! kill -0 "${prober_pid[$1]}"; } # POD

# The packets that a pod has got from another one so far, from those of its probers that have ended: "RIGHT MISSING".
heard() { # POD FROM ip|ud|rc
  sed -n "s/^from $2 by $3: \([0-9]*\) right, \([0-9]*\) missing$/\1 \2/p" "$probes/probers/$1" |
    awk '{right += $1; missing += $2} END {print right + 0, missing + 0}'
}

# By every way.
expect_heard() { # POD FROM LEAST
  local way right
  for way in ip ud rc; do
    read -r right _ <<<"$(heard "$1" "$2" "$way")"
    [ "$right" -ge "$3" ] || fail "$1 has heard $right messages of $2 by $way, want $3: $(head -n 20 "$probes"/{probers,cards}/{"$1","$2"} 2>&1)"
  done
}

# By those probers of POD that have ended; but for what somebody can explain who has redefined this.
may_be_missing() { false; } # ip|ud|rc SINCE UNTIL (milliseconds)
expect_none_missing() { # POD FROM
  local count way since until
  grep -q '^all: ' "$probes/probers/$1" || fail "no prober of $1 has ended"
  while read -r count way since until; do
    may_be_missing "$way" "$since" "$until" || fail "$count messages from $2 to $1 by $way are missing, from $since to $until"
  done < <(sed -n "s/^missing: \([0-9]*\) from $2 by \([a-z]*\) since \([0-9]*\) until \([0-9]*\)$/\1 \2 \3 \4/p" "$probes/probers/$1")
  if grep -q "^broken: .* to $2$" "$probes/probers/$1"; then fail "a connection of $1 to $2 has broken"; fi
}

any_wrong() { grep -h '^WRONG' "$probes"/probers/*; }
expect_none_wrong() { ! any_wrong || fail "messages between tenants"; }
