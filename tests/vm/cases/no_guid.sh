#!/bin/bash
# A VF without a GUID, and none asked for: refused with both remedies.
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
new_pod p1
conf "$vf"
remember_node
refuse 7 "*$vf has no GUID*infinibandGUID*ip link set*" p1
expect_unchanged "a refused ADD with its DEL"
