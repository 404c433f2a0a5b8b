#!/bin/bash
# Pods of one partition reach each other by every program, one of another by none; partitions.conf alone lets it in and out.
# deadline: 360
# shellcheck disable=SC2016
. "$ROOT/tests/vm/programs.sh"

number_vfs p1=0.1 p2=1.1 p3=1.2
partition red "0x0002, indx0" "${guid[p3]}=full"
partition blue "0x0001, indx0" "${guid[p1]}=full" "${guid[p2]}=full"
connect_pods p1 p2 p3
attach_pod p1 0x8001
attach_pod p2 0x8001
attach_pod p3 0x8002
p3_is() { ip -n p3 -o -4 address show dev net1; within p3 rdma link show; binding "${vf[p3]}"; }
p3_is >"$WORK/p3.before"

say "one partition"
expect_talk p2 "${programs[@]}"

say "another"
expect_silence p3 "${programs[@]}"

say "p3 is let in, beside its own partition"
partition guests 0x0001 "${guid[p3]}=full"
wait_for 10 has_pkey p3 "${vf[p3]}" 0x8001
keys=$(pkeys p3 "${vf[p3]}")
expect_match "P_Keys of p3" "$keys" "0:0x8002 *[1-9]:0x8001*"
index[p3]=$(grep -o '[0-9]*:0x8001' <<<"$keys" | cut -d: -f1)
expect_talk p3 "${indexed[@]}"
expect_silence p3 "${first[@]}"
# shellcheck disable=SC2034 # for programs.sh
index[p3]=0

say "p3 is moved"
partition red 0x0002 "${guid[p3]}=full"
partition guests "0x0001, indx0" "${guid[p3]}=full"
is_moved() { [[ $(pkeys p3 "${vf[p3]}") == "0:0x8001 "* ]]; }
wait_for 10 is_moved
expect_talk p3 "${programs[@]}"

say "p3 is cut off, in the middle of a word"
packets() { within p3 sh -c 'cat /sys/bus/pci/devices/$0/infiniband/*/ports/1/counters/port_xmit_packets' "${vf[p3]}"; }
before=$(packets)
has_sent() { [ "$(packets)" -gt $((before + 1000)) ]; }
serve ib_write_bw -D 60
client ib_write_bw p3 -D 60 &
talker=$!
wait_for 20 has_sent
partition guests 0x0003 "${guid[p3]}=full"
if wait "$talker"; then fail "it has come to its end"; fi
expect_match "the client" "$(cat "$WORK/client")" "$(no_answer ib_write_bw)"
stop_server
expect_silence p3 "${programs[@]}"
p3_is >"$WORK/p3.after"
diff "$WORK/p3.before" "$WORK/p3.after" || fail "p3 has been touched"

detach_pods p1 p2 p3
