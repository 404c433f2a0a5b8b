#!/bin/bash
# Pods of the chart's cluster come and go, eight at once, twenty times: each has its partition each time, and leaves no key behind.
# deadline: 4500
# machine: cluster
# shellcheck disable=SC2016
. "$ROOT/tests/cluster/chart_pods.sh"
rounds=3
if [ "$FULL" = 1 ]; then rounds=20; fi

start_chart_cluster
install_chart --wait --timeout 15m
ctl partition create training --allow team-a --membership full --index0 --ipoib yes
make_team team-a training 10.56.0.0/16 0
for ((round = 1; round <= rounds; round++)); do
  begun=$SECONDS
  kubectl --namespace team-a scale statefulset/web --replicas 8
  wait_for 600 all_run 8
  wait_for 90 are_verified "$(echo team-a/web-{0..7})"
  up=$SECONDS
  kubectl --namespace team-a scale statefulset/web --replicas 0
  wait_for 600 all_run 0
  wait_for 300 has_no_attachment
  wait_for 90 are_verified ""
  expect_clean_ports
  say "round $round: eight pods in $((up - begun)) s, gone after $((SECONDS - up)) s"
done
