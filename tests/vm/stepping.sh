# Calls of the plugin with a fault inside: at a step of its own, or while the kernel works for it. Sourced after lib.sh.
# shellcheck shell=bash disable=SC2154

# The plugin's calls go through the stepper; what that says is in their standard error.
stepped=$WORK/stepped
CNI_PATH=$stepped:$CNI_PATH
step_through() { # count | kill-after N | run N COMMAND
  mkdir -p "$stepped"
  printf '#!/bin/bash\nexec stepper %s -- %q "$@"\n' "$(printf '%q ' "$@")" "$IBPOD_BIN/$plugin" >"$stepped/$plugin"
  chmod +x "$stepped/$plugin"
}
step_freely() { rm "$stepped/$plugin"; }

# The call ends in the kernel, which is about to make a MAD agent for the port: in a bind, or in a move.
kill_in_kernel() { # VERB POD
  local calling
  rm -rf "$WORK/killed"
  fault . qp0_ms 60000
  aside killed call "$1" "$2"
  calling=$!
  wait_for 60 opens_qp0
  pkill -9 -x "$plugin"
  no_fault . qp0_ms
  wait "$calling" || true
}
opens_qp0() { grep -qs softhca_open_qp0 "/proc/$(pgrep -x "$plugin")"/task/*/stack; } # whichever thread is in the pod's namespace
