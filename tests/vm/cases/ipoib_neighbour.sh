#!/bin/bash
# ipoib: a pod is replaced by another with the same addresses: neighbours that know the old queue pair learn the new one at once.
. "$ROOT/tests/vm/ipoib.sh"

address() { ip -n "$1" -br link show net1 | awk '{print $3}'; } # POD
knows() { [[ $(ip -n p2 -o neighbour show to "$1" dev net1) == *"lladdr $2 "* ]]; } # IP ADDRESS
blue
for pod in p1 p2 p3 p9; do new_pod "$pod"; done
attach p2 1
# Keeps the adapter of p1 and p9 in the multicast groups: while OpenSM opens one, what is announced there may be lost.
attach p3 0
attach p1 0
reaches p2 10.9.0.1
reaches p2 fd09::1
before=$(address p1)
detach p1
for ip in 10.9.0.1 fd09::1; do ip -n p2 neighbour replace "$ip" lladdr "$before" nud reachable dev net1; done

# The same addresses in another pod.
jq 'del(.prevResult)' "$WORK/p1/conf" >"$WORK/conf"
cp "$WORK/conf" "$WORK/p9.conf"
add p9
now=$(address p9)
[ "$now" != "$before" ] || fail "the address is the same as before, and shows nothing: $now"
wait_for 5 knows 10.9.0.1 "$now"
wait_for 5 knows fd09::1 "$now"
PATIENCE=5 reaches p2 10.9.0.1
PATIENCE=5 reaches p2 fd09::1
cp "$WORK/p9.conf" "$WORK/conf"
del p9
detach p2 p3
