#!/bin/bash
# Counters: what perfquery and sysfs say of a port is what went over its link, and the switch's port says the same mirrored.
. "$ROOT/tests/vm/lib.sh"

a=$(vf_pci 0 1) b=$(vf_pci 1 1)
set_static_guid 0 1 02:00:00:00:00:00:01:01
set_static_guid 1 1 02:00:00:00:00:00:02:01
partition everybody 0x7fff 02:00:00:00:00:00:02:01=full 02:00:00:00:00:00:01:01=full

counter() { cat "/sys/class/infiniband/$(rdma_device host "$1")/ports/1/counters/$2"; } # PCI NAME
lid() { echo $(($(cat "/sys/class/infiniband/$(rdma_device host "$1")/ports/1/lid"))); } # PCI
ask() { # LID PORT COUNTER [OPTION]: one counter by perfquery, from PF 0
  perfquery -C "$(rdma_device host "$PF0")" ${4:+"$4"} "$1" "$2" | sed -n "s/^$3:\.*//p"
}
switch=$(ibswitches -C "$(rdma_device host "$PF0")" | sed -n 's/.* lid \([0-9]*\) .*/\1/p')

near() { # WHAT GOT WANT: management packets may have gone by
  if [ "$2" -lt "$3" ] || [ "$2" -gt $(($3 + 60)) ]; then fail "$1: got $2, want $3"; fi
}

# Between each there are 200 messages of four packets with four kilobytes, and 200 acknowledgements.
names=(port_xmit_packets port_rcv_packets port_xmit_data port_rcv_data)
for name in "${names[@]}"; do printf -v "before_$name" %s "$(counter "$a" "$name")"; done
mirrored=$(ask "$switch" "$(switch_port "$a")" PortRcvPkts -x)
pingpong rc "$a" "$b" --iters 200 --size 4096 --mtu 1024 || fail "$(cat "$WORK/client")"
for name in "${names[@]}"; do
  before=before_$name
  printf -v "delta_$name" %s $(($(counter "$a" "$name") - ${!before}))
done
# shellcheck disable=SC2154
near "packets sent" "$delta_port_xmit_packets" 1000
# shellcheck disable=SC2154
near "packets received" "$delta_port_rcv_packets" 1000
words=$((200 * 4096 / 4 + 1000 * 6))
# shellcheck disable=SC2154
[ "$delta_port_xmit_data" -ge "$words" ] || fail "words sent: $delta_port_xmit_data, want $words"
[ "$delta_port_xmit_data" -le $((words + 60 * 90)) ] || fail "words sent: $delta_port_xmit_data, want $words"

say "perfquery"
near "packets that the switch got" $(($(ask "$switch" "$(switch_port "$a")" PortRcvPkts -x) - mirrored)) 1000
near "PortXmitPkts" "$(ask "$(lid "$a")" 1 PortXmitPkts)" "$(($(counter "$a" port_xmit_packets) - 20))"
perfquery -C "$(rdma_device host "$PF0")" -R "$(lid "$a")" 1
near "PortXmitPkts after a reset" "$(ask "$(lid "$a")" 1 PortXmitPkts)" 0

say "links that went down"
before=$(ask "$switch" "$(switch_port "$a")" LinkDownedCounter)
fault "$a" down 1
wait_for 5 is_down host "$a"
no_fault "$a" down
wait_for 10 is_active host "$a"
expect_eq "LinkDownedCounter" "$(ask "$switch" "$(switch_port "$a")" LinkDownedCounter)" $((before + 1))
