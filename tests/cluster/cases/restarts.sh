#!/bin/bash
# Container, sandbox, kubelet, agent and containerd restart: the same VF stays with the pod, and is counted all the time.
# deadline: 900
# machine: cluster
. "$ROOT/tests/cluster/node.sh"

start_node 2
pod one 1
wait_for 180 runs one
vf=$(vf_of one)
start_watching 2
expect_same() { # WHAT
  wait_for 180 runs one
  expect_eq "the VF after $1" "$(vf_of one)" "$vf"
  expect_given one
}

say "the container"
before=$(restarts one)
kill -9 "$(container_process one)"
wait_for 180 has_restarted one "$before"
expect_same "a restart of the container"

say "the sandbox"
before=$(restarts one) sandbox=$(sandbox_of one)
kill -9 "$(process_in "$sandbox")"
wait_for 180 has_restarted one "$before"
expect_same "a new sandbox"
[ "$(sandbox_of one)" != "$sandbox" ] || fail "it is the same sandbox"

identity_of one >"$WORK/one"
expect_left_alone() { # WHAT
  expect_same "$1"
  identity_of one | diff "$WORK/one" - || fail "$1 has touched the pod"
}

say "the agent"
end_daemon agent
start_agent
wait_for 90 offers "${vfs[@]}"
expect_left_alone "a restart of the agent"
end_daemon agent KILL
start_agent
wait_for 90 offers "${vfs[@]}"
expect_left_alone "a killed agent"

say "the kubelet, with and without the agent beside it"
end_daemon kubelet
start_kubelet
wait_for 90 curl -sf http://127.0.0.1:9464/readyz
wait_for 90 offers "${vfs[@]}"
expect_left_alone "a restart of the kubelet"
end_daemon kubelet
end_daemon agent
start_kubelet
start_agent
wait_for 90 offers "${vfs[@]}"
expect_left_alone "a restart of both"

say "containerd"
end_daemon containerd
start_containerd
expect_left_alone "a restart of containerd"

say "the other VF is still to be had"
pod two 1
wait_for 180 runs two
expect_given two
expect_capacity_kept
