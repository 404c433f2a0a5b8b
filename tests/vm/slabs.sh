# Does the kernel keep objects? The objects of each slab cache, before something was done many times and after it.
# Sourced after lib.sh, on the machine "debug": with slub_debug no two caches are merged, and what is free is counted as
# free (else an object that lies ready on some processor counts as one in use).
# shellcheck shell=bash disable=SC2016
kept_in=$WORK/slabs

# Reads the counts, without what the kernel has only for speed. One program in no pipeline: processes are objects, too.
read_slabs() { # FILE
  echo 3 >/proc/sys/vm/drop_caches
  cat /proc/slabinfo >"$1"
}
# "CACHE OBJECTS". Not vmap_area: freed address ranges wait there until they are 64 MB. One that leaks has a vm_struct, too,
# in kmalloc-64 or beside it.
objects() { awk '!/^(slabinfo|#|vmap_area)/ {print $1, $2}' "$@" | sort -k1,1 -k2,2n; } # FILE...

objects_in() { awk -v cache="$1" '$1 == cache {print $2}' /proc/slabinfo; } # CACHE

# Namespaces die in the background, as the last of all that a pod had, and the memory of the last one is kept until the
# next one dies (the first namespace is in no cache).
pods_are_gone() {
  if [ "$(objects_in net_namespace)" -le 1 ]; then return; fi
  ip netns add last
  ip netns delete last
  return 1
}

# The fewest of five looks: what is still on its way to be freed must not hide a leak of the same size.
remember_slabs() {
  local look
  wait_for 60 pods_are_gone
  for look in {1..5}; do read_slabs "$kept_in.$look"; done
  objects "$kept_in".[1-5] | awk '!seen[$1]++' >"$kept_in"
}

# Caches with more than that many objects more than before, at the last look.
grown() { difference | awk -v most="$1" '$4 > most {print $1 ": " $2 ", now " $3}'; } # NUMBER
difference() { objects "$kept_in.now" | join "$kept_in" - | awk '{print $1, $2, $3, $3 - $2}'; }

# One object that leaks in each of N repetitions is N objects. A quarter of them may come and go with the rest of the system:
# nothing that is done once a repetition does.
tolerated() { echo $(($1 * 3 / 4)); } # REPETITIONS

# Memory that is only freed late has a minute to go. (With a U more in slub_debug, alloc_traces in
# /sys/kernel/debug/slab/CACHE shows the callers that made the objects of a cache.)
expect_no_leak() { # REPETITIONS
  local most end=$((SECONDS + 60))
  most=$(tolerated "$1")
  wait_for 60 pods_are_gone
  # Not in a subshell: a copy of this shell is a hundred objects.
  until read_slabs "$kept_in.now" && [ -z "$(grown "$most")" ]; do
    [ "$SECONDS" -lt "$end" ] || fail "the kernel keeps: $(grown "$most")"
  done
}

expect_leak() { # REPETITIONS CACHE
  read_slabs "$kept_in.now"
  expect_match "caches that have grown" "$(grown "$(tolerated "$1")")" "*$2: *"
}

most_grown() { # as "CACHE by NUMBER"
  difference | sort -k4,4nr | awk 'NR == 1 {print $1 " by " $4}'
}
