# For the lanes that run something again and again beside a load: what is true only on a quiet machine is found out. Sourced.
# shellcheck shell=bash disable=SC2154
rounds=${ROUNDS:-50}

start_load() { # PROCESSES
  local i
  for ((i = 0; i < $1; i++)); do
    (while :; do :; done) &
    load+=($!)
  done
  trap 'kill "${load[@]}" 2>/dev/null || true' EXIT
}
load=()

# One of four parts of the quick VM cases, which take about as long as each other.
run_quick_cases() { # PART
  local quick names=() i
  mapfile -t quick < <(quick_by_time | awk -v part="$1" '{n = (NR - 1) % 8; if ((n < 4 ? n + 1 : 8 - n) == part) print}')
  for ((i = 0; i < rounds; i++)); do names+=("${quick[@]}"); done
  start_load 1
  KEEP_TIMES=0 KERNEL=6.1 "$root/tests/vm/run" "${names[@]}"
}

quick_by_time() {
  local name
  for name in $(cd "$root/tests/vm/cases" && grep -l '^# quick:' -- *.sh | sed 's/\.sh$//'); do
    awk -v name="$name" '$1 == "6.1" && $3 == name {seconds = $4} END {print seconds + 0, name}' "$root/tests/vm/times"
  done | sort -rn | cut -d' ' -f2
}
