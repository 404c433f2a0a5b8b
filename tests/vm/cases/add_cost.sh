#!/bin/bash
# An isolated ADD makes no more system calls and threads than its budget, and DEL neither.
# deadline: 240
. "$ROOT/tests/vm/lib.sh"

# The present numbers, and a little room: a list read once more, a file opened once more. A retry takes more.
most_threads=2
declare -A most_calls=([ADD]=260 [DEL]=350)

vf=$(vf_pci 0 0)
set_static_guid 0 0 02:00:00:00:00:00:01:01
new_pod p1
conf "$vf" '.rdmaIsolation = true'

# In front of the plugin, which strace follows: with its threads, and what it starts.
traced=$WORK/traced
mkdir "$traced"
printf '#!/bin/bash\nexec strace -f -qq -o "%s/calls" -- "%s" "$@"\n' "$WORK" "$IBPOD_BIN/$plugin" >"$traced/$plugin"
chmod +x "$traced/$plugin"

kinds() { sed -En 's/^[0-9]+ +([a-z0-9_]+)\(.*/\1/p' "$WORK/calls" | sort | uniq -c | sort -rn; }

judge() { # VERB: the call just made
  local calls threads
  calls=$(calls_in "$WORK/calls") threads=$(threads_in "$WORK/calls")
  said+="$1 $calls system calls, $threads threads; "
  if [ "$calls" -gt "${most_calls[$1]}" ] || [ "$threads" -gt "$most_threads" ]; then
    kinds
    fail "$1 has made $calls system calls in $threads threads; allowed are ${most_calls[$1]} in $most_threads"
  fi
}

# The first one on a node makes the folders.
add p1
del p1
said=""
CNI_PATH=$traced:$CNI_PATH
add p1
judge ADD
del p1
judge DEL
echo "note: ${said%; }"
