#!/bin/bash
# A hundred times eight ADDs at once, now and then traffic, eight DELs at once: the kernel keeps nothing of any of it.
# deadline: 4700
# machine: debug
# lane: cycles
. "$ROOT/tests/vm/lib.sh"
. "$ROOT/tests/vm/slabs.sh"

warm_up=5 cycles=100 rdma_pings=0
pods=(p0 p1 p2 p3 p4 p5 p6 p7)

guids=(02:00:00:00:00:00:aa:0{0..7})
# Two limited members could not talk.
partition everybody 0x7fff "${guids[@]/%/=full}"
for i in {0..7}; do
  at_end delete_pod "p$i"
  conf_of "p$i" "$(vf_pci 0 "$i")" ".guid = \"${guids[i]}\" | .link_state = \"auto\" | .rdmaIsolation = true |
    .timeoutSeconds = 60 | $host_local"
done

pinged() { grep -q '^ping data' "$WORK/rping"; }

# Leaves its programs running: $talkers.
talk() { # SERVER CLIENT
  local address
  address=$(ip -n "$1" -o -4 address show net1 | awk '{print $4}')
  address=${address%/*}
  wait_for 30 ip netns exec "$2" ping -c 1 -W 2 "$address"
  ip netns exec "$1" rping -s -a "$address" >"$WORK/rping.server" 2>&1 &
  talkers=($!)
  wait_for 30 listens_cm "$1"
  ip netns exec "$2" stdbuf -oL rping -c -v -V -a "$address" >"$WORK/rping" 2>&1 &
  talkers+=($!)
  wait_for 30 pinged
}

hush() {
  kill "${talkers[@]}" 2>/dev/null || true
  wait "${talkers[@]}" 2>/dev/null || true
  rdma_pings=$((rdma_pings + $(grep -c '^ping data' "$WORK/rping")))
}

# In every fifth two pods talk, and in every tenth they have not ended when their DEL comes.
cycle() { # NUMBER
  local pod talking=""
  for pod in "${pods[@]}"; do make_netns "$pod"; done
  at_once ADD "${pods[@]}"
  if [ $(($1 % 5)) = 0 ]; then talking=1 && talk "p$(($1 / 5 % 4))" "p$(($1 / 5 % 4 + 4))"; fi
  if [ $(($1 % 10)) = 5 ]; then talking="" && hush; fi
  at_once DEL "${pods[@]}"
  if [ -n "$talking" ]; then hush; fi
  for pod in "${pods[@]}"; do delete_pod "$pod"; done
}

# Without the devices' names: they are the lowest that are free.
resources() {
  rdma resource | cut -d: -f3 | sort
  rdma resource show qp | sed -E 's/.*(type [A-Z]+ state [A-Z]+).*(comm .*)/\1 \2/' | sort
}
compare_resources() { resources | diff -U0 "$WORK/resources" -; }

say "what leaks once a cycle is found, be it a file or a namespace"
remember_slabs
for ((i = 0; i < cycles; i++)); do exec {file}</dev/null && files+=("$file"); done
expect_leak "$cycles" filp
for file in "${files[@]}"; do exec {file}<&-; done
expect_no_leak "$cycles"
for ((i = 0; i < cycles; i++)); do ip netns add "kept$i"; done
expect_leak "$cycles" net_namespace
for ((i = 0; i < cycles; i++)); do ip netns delete "kept$i"; done
expect_no_leak "$cycles"

say "warm-up"
remember_node
for ((i = 1; i <= warm_up; i++)); do cycle "$i"; done
expect_unchanged "the warm-up"
remember_slabs
resources >"$WORK/resources"

say "$cycles cycles"
begin=$(milliseconds) swept=$(sweeps)
for ((i = 1; i <= cycles; i++)); do cycle "$i"; done
took=$((($(milliseconds) - begin) / cycles))
expect_unchanged "ADDs and DELs"
(wait_for 20 compare_resources) || fail "RDMA resources are not what they were: $(compare_resources)"
has_swept_since $((swept + cycles)) || fail "OpenSM has swept $(($(sweeps) - swept)) times in $cycles cycles"
expect_no_leak "$cycles"
echo "note: $cycles cycles of $took ms, $rdma_pings RDMA pings; $(wc -l <"$WORK/slabs") slab caches, most grown: $(most_grown)"
