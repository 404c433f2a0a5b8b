#!/bin/bash
# pod-resources refuses, then answers with nothing, after each restart of the kubelet: no pod that lives is touched.
# deadline: 900
# machine: cluster
. "$ROOT/tests/cluster/node.sh"

start_node 4
for name in one two three; do pod "$name" 1; done
for name in one two three; do wait_for 120 runs "$name"; done
all() { for name in one two three; do identity_of "$name"; done; }
all >"$WORK/all"
sweeps_now() { curl -sf http://127.0.0.1:9464/metrics | awk '/^ibpod_sweeps_total/ {sum += $2} END {print sum + 0}'; }
has_swept_more_than() { [ "$(sweeps_now)" -gt "$1" ]; }

for round in 1 2 3; do
  say "round $round: it refuses"
  end_daemon kubelet
  before=$(sweeps_now)
  wait_for 90 has_swept_more_than $((before + 1))

  # The agent sweeps when it starts, and the kubelet answers with nothing for the first seconds.
  say "round $round: it says nothing"
  end_daemon agent
  launch_agent
  start_kubelet
  wait_for 90 has_swept_more_than 2
  wait_for 90 curl -sf http://127.0.0.1:9464/readyz
  for name in one two three; do wait_for 180 runs "$name"; done
  all | diff "$WORK/all" - || fail "a living pod was touched"
done

say "what is gone is still swept up"
delete two
wait_for 90 is_gone two
has_no_record() { [ -z "$(record_of two)" ]; }
wait_for 90 has_no_record
