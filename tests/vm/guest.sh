#!/bin/bash
# PID 1 of the test VM, on the host's root under a throw-away overlay. Makes the guest an InfiniBand node, then does what
# $MODE says: runs the cases of /run/vm/cases one by one, runs /run/vm/script, or gives a prompt.
# tests/vm/run sets ROOT, SEED, FULL, KERNEL, MACHINE, VFS (VFs of each PF), MODE, CASES,
# SOFTHCA, SOFTHCA2 and MODULES.
# Not `set -e`: when PID 1 ends the kernel panics.
set -u
# Copied at boot: a build beside the test VM would change what runs.
export IBPOD_BIN=/run/bin CNI_PATH=/run/bin:$ROOT/tests/vm/ipam:/usr/lib/cni
export PATH=$IBPOD_BIN:$ROOT/build/release/tests/vm:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/root LC_ALL=C # a locale is a dozen more files for every process to open
. "$ROOT/tests/vm/node.sh"

tell() { echo "$*" >&3; }

seconds() { # SINCE (microseconds)
  local tenths=$(((${EPOCHREALTIME/./} - $1) / 100000))
  echo "$((tenths / 10)).$((tenths % 10))"
}

# --- changes that a case must not leave ------------------------------------------------------------------------------

# Kernel messages since the last call that mean a defect. The one warning allowed is rdmavt's own, on 6.1: it copies a
# send work request as a whole into a field declared as its first part.
kernel_complaints() {
  dmesg | awk -v mark="$mark" '
    index($0, mark) {seen = 1; next}
    !seen {next}
    /cut here/ {block = $0; inside = 1; next}
    inside {
      block = block "\n" $0
      if (/end trace/) {
        inside = 0
        if (block !~ /field-spanning write.*wqe->wr/ || block !~ /rvt_post_send/) print block
      }
      next
    }
    {print}
    END {if (inside) print block}' |
    grep -E "BUG|WARNING|Oops|general protection|refcount|[Ll]eak|hung task|blocked for more than|Couldn't|stall|orrupt|Poison|Redzone|use-after-free|waiting for .* to become free|UBSAN|inconsistent lock state|possible recursive"
}

# A pattern for the kernel messages that a case may cause, from its header; without one a pattern that matches nothing.
allowed_complaint() { # NAME
  local pattern
  # shellcheck disable=SC2153
  pattern=$(sed -n '1,15s/^# complaint: *//p' "$CASES/$1.sh")
  echo "${pattern:-^$}"
}

mark_kernel_log() {
  mark="ibpod-mark $EPOCHREALTIME"
  echo "<5>$mark" >/dev/kmsg
}

# The state of the node, as text. A VF that a case has bound again by hand may keep its devices' new names.
snapshot() {
  nodestate "$opensm_dir/partitions.conf" |
    sed -E 's/^link host [^ ]+ kind=ipoib/link host ? kind=ipoib/; s/^rdma host [^ ]+ of/rdma host ? of/' | sort
  user_processes
}

# Waits until the node is as it was before the case: the kernel takes namespaces down in the background.
node_is_back() {
  local end=$((EPOCHSECONDS + 10))
  while [ "$EPOCHSECONDS" -lt "$end" ]; do
    snapshot >/run/after 2>&1
    [ "$(</run/before)" != "$(</run/after)" ] || return 0
    sleep .2
  done
  return 1
}

# --- running --------------------------------------------------------------------------------------------------------

run_case() { # NAME DEADLINE
  local name=$1 deadline=$2 log=/run/vm/log/$1 begin=${EPOCHREALTIME/./} status took reason="" dirty=""
  export CASE=$name WORK=/run/case
  rm -rf "$WORK" && mkdir "$WORK"
  tell "begin $name $deadline"
  # shellcheck disable=SC2153
  (cd "$WORK" && exec timeout --kill-after=5 "$deadline" bash "$CASES/$name.sh") >"$log" 2>&1 </dev/null &
  local case=$! watchdog first
  sleep $((deadline + 10)) &
  watchdog=$!
  wait -n -p first "$case" "$watchdog"
  status=$?
  if [ "$first" = "$watchdog" ]; then
    stuck "$name" "$(seconds "$begin")"
    return 1
  fi
  kill "$watchdog" && wait "$watchdog" 2>/dev/null
  took=$(seconds "$begin")
  case $status in
    0) ;;
    77) reason=$(tail -n 1 "$log") ;;
    124 | 137) reason="killed at its deadline of $deadline s" ;;
    *) reason="exit $status" ;;
  esac
  if ! node_is_back; then
    dirty=1
    reason="$reason; the node is not as it was"
    { echo "--- the node before (-) and after (+):"; diff -U0 /run/before /run/after | tail -n +3; } >>"$log"
  fi
  if kernel_complaints | grep -vE "$(allowed_complaint "$name")" >/run/complaints; then
    reason="$reason; the kernel complained"
    { echo "--- kernel:"; head -n 25 /run/complaints; } >>"$log"
    dmesg >"$log.dmesg"
  fi
  mark_kernel_log
  reason=${reason#; }
  if [ "$status" = 77 ] && [ -z "$dirty" ]; then
    tell "skipped $name $took $reason"
  elif [ -n "$reason" ]; then
    tell "failed $name $took $reason"
  else
    tell "passed $name $took $(sed -n 's/^note: //p' "$log" | tail -n 1)"
  fi
  [ -z "$dirty" ]
}

# Not even SIGKILL ended the case: some process of it waits in the kernel.
stuck() { # NAME SECONDS
  dmesg -C
  echo w >/proc/sysrq-trigger
  { echo "--- stuck in the kernel:"; dmesg -t | grep -vE '^(Modules|RIP|RSP|RAX|RDX|RBP|R1|CS:|CR2)' | head -n 60; } >>"/run/vm/log/$1"
  tell "failed $1 $2 killed at its deadline, and stuck in the kernel"
}

run_cases() {
  local name deadline
  while read -r name deadline; do
    run_case "$name" "$deadline" || return # the next case gets a fresh node
  done </run/vm/cases
  run_unload
}

# After the last case of a boot everything goes away, without a complaint.
run_unload() {
  local begin=${EPOCHREALTIME/./} reason=""
  tell "begin unload 60"
  unload_node >/run/vm/log/unload 2>&1 || reason="the module does not unload"
  if kernel_complaints >>/run/vm/log/unload; then reason="the kernel complained"; fi
  if [ -z "$reason" ]; then tell "passed unload $(seconds "$begin")"; else tell "failed unload $(seconds "$begin") $reason"; fi
}

power_off() {
  cp /run/opensm/opensm.log /run/vm/log/opensm 2>/dev/null
  dmesg >/run/vm/log/dmesg
  busybox poweroff -f
}

copy_programs() {
  mkdir -p "$IBPOD_BIN" &&
    find "$ROOT/build/release/bin" -maxdepth 1 -type f ! -name '*.debug' -exec cp -t "$IBPOD_BIN/" {} + &&
    cp "$ROOT/build/release/tests/vm/nodestate" "$IBPOD_BIN/" || return
  # At the place that ibpod-sm expects. Not a link: a hardened unit sees no home, where the repository may be.
  if [ ! -e /usr/sbin/opensm ]; then cp "$ROOT/build/opensm/usr/sbin/opensm" /usr/sbin/; fi
  /usr/sbin/opensm --version
}

main() {
  exec 3>/dev/ttyS1
  stty -F /dev/ttyS1 raw -echo
  mark_kernel_log
  if ! { copy_programs && prepare_node; } >/run/vm/log/setup 2>&1; then power_off; fi
  case $MODE in
    cases)
      tell ready
      snapshot >/run/before
      run_cases
      tell "done"
      ;;
    script)
      bash /run/vm/script >&3 2>&3 </dev/null
      echo $? >/run/vm/status
      ;;
    shell)
      echo "The test VM: kernel $(uname -r). Leave with exit, or Ctrl-A X."
      cd "$ROOT" && setsid -w -c bash --rcfile "$ROOT/tests/vm/lib.sh" -i </dev/ttyS0 >/dev/ttyS0 2>&1
      ;;
  esac
  power_off
}

main
