#!/bin/bash
# Eight pods at once, each with a VF and without privileges: each opens exactly its own verbs device.
# deadline: 900
# machine: cluster
. "$ROOT/tests/cluster/node.sh"

start_node 8
for i in {1..8}; do pod "p$i" 1; done
for i in {1..8}; do wait_for 240 runs "p$i"; done
for i in {1..8}; do expect_given "p$i"; done
expect_eq "different VFs" "$(for i in {1..8}; do vf_of "p$i"; done | sort -u | wc -l)" 8
expect_eq "different verbs devices" "$(for i in {1..8}; do says "p$i" opens; done | sort -u | wc -l)" 8
for i in {1..8}; do delete "p$i"; done
wait_for 150 no_pod
