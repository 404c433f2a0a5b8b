#!/bin/bash
# The SM service, OpenSM, the agent or the network between them goes away at a step of a DEL: it answers, and the VF waits until it is clean.
# deadline: 400 4700
# full: path-del
. "$ROOT/tests/vm/outages.sh"

prepare_tenants
belongs p3 red
add p3
count_steps DEL
new_pod p5 # would have the VF next
vf[p5]=${vf[p3]}
expect_gone "a first ADD and DEL"
tried=0 kept=0
for cause in "${outages[@]}"; do
  choose_steps
  for step in "${chosen[@]}"; do
    say "$cause away at step $step of $steps"
    partition=$([ $((tried % 2)) = 0 ] && echo blue || echo red)
    belongs p3 "$partition"
    add p3
    start_prober p3 "$partition" 10.7.0.3
    wait_for 30 has_spoken p3
    stop_prober p3
    step_through run "$step" "$(outage "$cause")"
    del p3
    step_freely
    stepper=$(sed -n 's/^stepper: //p' <<<"$err")
    expect_match "the stepper" "$stepper" "?*"
    [[ $stepper != *failed* ]] || fail "the outage: $stepper"
    if ! has_records "$staying"; then
      kept=$((kept + 1))
      # Its key may still be on the port: nobody gets the VF.
      belongs p5 "$([ "$partition" = red ] && echo blue || echo red)" '.timeoutSeconds = 4'
      call ADD p5
      # Without its agent the node attaches nothing at all.
      expect_error 11 "$([ "$cause" = agent ] && echo '*agent*' || echo '*p3*')"
      del p5
    fi
    if [[ $stepper != "it does not come to that call" ]]; then end_outage "$cause"; fi
    expect_gone "$cause, step $step"
    expect_true "$cause, step $step"
    tried=$((tried + 1))
  done
done
stop_all_probers
end_tenants
echo "note: seed $SEED: $tried outages in a DEL of $steps steps, $kept times the VF had to wait"
