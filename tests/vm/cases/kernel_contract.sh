#!/bin/bash
# The machine keeps the contract that the unit tests' model of it keeps.
# deadline: 300
# kernels: 6.1 7
. "$ROOT/tests/vm/lib.sh"

set_static_guid 0 1 00:11:22:33:44:55:66:71
CONTRACT_VF=$(vf_pci 0 1) CONTRACT_PF=$PF1 kernel_contract --duration=true
