#!/bin/bash
# The SM service, OpenSM, the agent or the network between them goes away at a step of an ADD: nobody gets in where he does not belong.
# deadline: 400 4700
# full: path-add
. "$ROOT/tests/vm/outages.sh"

prepare_tenants
belongs p3 red
count_steps ADD
del p3
expect_gone "a first ADD and DEL"
tried=0 joined=0
for cause in "${outages[@]}"; do
  choose_steps
  for step in "${chosen[@]}"; do
    say "$cause away at step $step of $steps"
    partition=$([ $((tried % 2)) = 0 ] && echo blue || echo red)
    belongs p3 "$partition" '.timeoutSeconds = 8'
    step_through run "$step" "$(outage "$cause")"
    call ADD p3
    step_freely
    stepper=$(sed -n 's/^stepper: //p' <<<"$err")
    expect_match "the stepper" "$stepper" "?*"
    [[ $stepper != *failed* ]] || fail "the outage: $stepper"
    in=""
    if [ "$rc" = 0 ]; then
      in=1
      joined=$((joined + 1))
      expect_match "P_Keys" "$(pkeys p3 "${vf[p3]}")" "0:0x800[12]*"
      start_prober p3 "$partition" 10.7.0.3
    else
      expect_eq "code" "$(jq .code <<<"$out")" 11
    fi
    if [[ $stepper != "it does not come to that call" ]]; then end_outage "$cause"; fi
    if [ -n "$in" ]; then
      wait_for 30 has_spoken p3
      stop_prober p3
    fi
    del p3
    expect_gone "$cause, step $step"
    expect_true "$cause, step $step"
    tried=$((tried + 1))
  done
done

say "afterwards"
belongs p3 blue
add p3
start_prober p3 blue 10.7.0.3
wait_for 30 has_spoken p3
wait_for 20 within p3 ping -q -c 1 -W 2 10.7.0.1
stop_prober p3
del p3
stop_all_probers
end_tenants
echo "note: seed $SEED: $tried outages in an ADD of $steps steps, $joined pods joined all the same"
