# A call with each of the outages named at one of its steps, or at each where the case runs whole. Sourced.
# shellcheck shell=bash disable=SC2016,SC2034,SC2154
. "$ROOT/tests/vm/outages.sh"

tried=0 missed=0 joined=0 kept=0

# Nobody gets in where he does not belong.
outages_in_add() { # OUTAGE...
  prepare_tenants
  try_in_add "$@"
  stop_all_probers
  end_tenants
  echo "note: seed $SEED: $tried outages in an ADD of $steps steps, $joined pods joined all the same, $missed steps not come to"
  expect_outages "$joined"
}

# It answers, and the VF waits until it is clean.
outages_in_del() { # OUTAGE...
  prepare_tenants
  try_in_del "$@"
  stop_all_probers
  end_tenants
  echo "note: seed $SEED: $tried outages in a DEL of $steps steps, $kept times the VF had to wait, $missed steps not come to"
  expect_outages "$kept"
}

try_in_add() { # OUTAGE...
  local cause step
  belongs p3 red
  count_steps ADD
  del p3
  expect_gone "a first ADD and DEL"
  for cause in "$@"; do
    choose_steps
    for step in "${chosen[@]}"; do outage_in_add "$cause" "$step"; done
  done

  say "afterwards"
  belongs p3 blue
  add p3
  start_prober p3 blue 10.7.0.3
  wait_for 30 has_spoken p3
  wait_for 20 within p3 ping -q -c 1 -W 2 10.7.0.1
  stop_prober p3
  del p3
  expect_gone "afterwards"
}

try_in_del() { # OUTAGE...
  local cause step
  belongs p3 red
  add p3
  count_steps DEL
  new_pod p5 # would have the VF next
  vf[p5]=${vf[p3]}
  expect_gone "a first ADD and DEL"
  for cause in "$@"; do
    choose_steps
    for step in "${chosen[@]}"; do outage_in_del "$cause" "$step"; done
  done
}

# From p5, which wants that partition.
expect_kept() { # OUTAGE PARTITION
  case $1 in
    agent) expect_error 11 '*agent*' ;; # without it the node attaches nothing at all
    # The binding may end while the call waits.
    restart | ufm) if [ "$rc" = 0 ]; then expect_in p5 "$2"; else expect_error 11 '*'; fi ;;
    *) expect_error 11 '*p3*' ;;
  esac
}

# A call that polls does not make the same steps each time.
end_outage_of() { # OUTAGE: what $stepper says of it; one more may be $missed
  if [[ $stepper == "it does not come to that call" ]]; then
    missed=$((missed + 1))
  else
    end_outage "$1"
  fi
}

# The next pod gets the VF: no record of p3 keeps it only if its port is in no partition any more.
expect_clean_or_kept() {
  if has_records "$staying"; then is_clean "${vf[p3]}" || fail "p3 has no record, and its port has $(pkeys host "${vf[p3]}")"; fi
}

# It tells nothing where nothing has happened, or, whole, hardly anything.
expect_outages() { # OF-INTEREST: how often it came out the other way
  [ "$missed" -lt "$tried" ] || fail "none of $tried outages has happened"
  if [ "$FULL" = 0 ]; then return 0; fi
  [ $((missed * 4)) -lt "$tried" ] || fail "of $tried outages $missed have not happened"
  [ "$1" -gt 0 ] || fail "all $tried came out the same way"
}

outage_in_add() { # OUTAGE STEP: one more is $tried
  local partition stepper in=""
  say "$1 away at step $2 of $steps"
  partition=$([ $((tried % 2)) = 0 ] && echo blue || echo red)
  belongs p3 "$partition" '.timeoutSeconds = 8'
  step_through run "$2" "$(outage "$1")"
  call ADD p3
  step_freely
  stepper=$(sed -n 's/^stepper: //p' <<<"$err")
  expect_match "the stepper" "$stepper" "?*"
  [[ $stepper != *failed* ]] || fail "the outage: $stepper"
  expect_clean_or_kept
  if [ "$rc" = 0 ]; then
    in=1
    joined=$((joined + 1))
    expect_in p3 "$partition"
    start_prober p3 "$partition" 10.7.0.3
  else
    expect_eq "code" "$(jq .code <<<"$out")" 11
  fi
  end_outage_of "$1"
  if [ -n "$in" ]; then
    wait_for 30 has_spoken p3
    stop_prober p3
  fi
  del p3
  expect_gone "$1, step $2"
  expect_true "$1, step $2"
  tried=$((tried + 1))
}

outage_in_del() { # OUTAGE STEP: one more is $tried
  local partition stepper other
  say "$1 away at step $2 of $steps"
  partition=$([ $((tried % 2)) = 0 ] && echo blue || echo red)
  other=$([ "$partition" = red ] && echo blue || echo red)
  belongs p3 "$partition"
  add p3
  start_prober p3 "$partition" 10.7.0.3
  wait_for 30 has_spoken p3
  step_through run "$2" "$(outage "$1")"
  del p3
  step_freely
  outlive_device p3
  expect_clean_or_kept
  stepper=$(sed -n 's/^stepper: //p' <<<"$err")
  expect_match "the stepper" "$stepper" "?*"
  [[ $stepper != *failed* ]] || fail "the outage: $stepper"
  if ! has_records "$staying"; then
    kept=$((kept + 1))
    # Its key may still be on the port: nobody gets the VF.
    belongs p5 "$other" '.timeoutSeconds = 4'
    call ADD p5
    expect_kept "$1" "$other"
    del p5
  fi
  end_outage_of "$1"
  expect_gone "$1, step $2"
  expect_true "$1, step $2"
  tried=$((tried + 1))
}
