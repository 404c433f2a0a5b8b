#!/bin/bash
# ipoib: whichever step of ADD or DEL fails or is the plugin's last: DEL, or GC without any DEL, puts the node back.
# deadline: 300 3600
# full: faults-ipoib
. "$ROOT/tests/vm/ipoib.sh"
. "$ROOT/tests/vm/faults.sh"

blue
network plain "$PF0" '"umcast": false'
network whole "$PF0" '"pkey": "0x8001", "mode": "connected", "mtu": 1500' ', "addresses": true'
for verb in ADD DEL; do loop "$verb" 12 plain whole; done
sum_up ""
