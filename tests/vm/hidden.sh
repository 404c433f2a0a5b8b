# A process of the pod p1 in a network namespace of its own, which no path leads to; its process ID is in $hider. Sourced
# after lib.sh.
# shellcheck shell=bash
hide() {
  ip netns exec p1 unshare --net sleep 1000 &
  hider=$!
  at_end end_hider
  wait_for 5 is_apart
}
is_apart() { [ "$(readlink "/proc/$hider/ns/net")" != "$(ip netns exec p1 readlink /proc/self/ns/net)" ] && [ "$(<"/proc/$hider/comm")" = sleep ]; }
end_hider() { kill "$hider" 2>/dev/null || true; wait "$hider" 2>/dev/null || true; }
hidden() { nsenter --net="/proc/$hider/ns/net" "$@"; }
expect_empty() { expect_eq "what is left in there" "$(hidden ip -o link show type ipoib)" ""; }
