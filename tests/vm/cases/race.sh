#!/bin/bash
# Two ADDs race for one VF: one wins, the other's error names the owner, and its DEL changes nothing.
# machine: multi
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
set_static_guid 0 1 02:00:00:00:00:00:01:01
pids=()
for pod in p1 p2; do new_pod "$pod"; done
remember_node
conf "$vf" ".timeoutSeconds = 5 | $lease"
for pod in p1 p2; do
  aside "$pod" must ADD "$pod"
  pids+=($!)
done
first=0 second=0
wait "${pids[0]}" || first=$?
wait "${pids[1]}" || second=$?
[ $((first + second)) = 1 ] || fail "exit codes $first and $second, and exactly one should win"
if [ "$first" = 0 ]; then winner=p1 loser=p2; else winner=p2 loser=p1; fi
# shellcheck disable=SC2034 # for lib.sh
rc=1 out=$(<"$WORK/$loser/out")
expect_error 11 "$vf still belongs to pod default/$winner (net1): its DEL has not been received"

cp "$WORK/node" "$WORK/before"
remember_node
del "$loser"
del "$loser" CNI_NETNS=
expect_unchanged "the loser's DEL"
expect_eq "the winner's interface" "$(netdev "$winner" "$vf")" net1
del "$winner"
cp "$WORK/before" "$WORK/node"
expect_unchanged "the race"
