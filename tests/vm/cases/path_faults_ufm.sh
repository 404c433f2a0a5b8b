#!/bin/bash
# UFM goes away at a step of an ADD and of a DEL: no pod gets into a partition that it does not belong to, and the VF waits until it is clean.
# deadline: 900
# complaint: infiniband softhca_[0-9]+: Couldn't open port 1
. "$ROOT/tests/vm/path_ufm.sh"

prepare_tenants
try_in_add ufm
try_in_del ufm
stop_all_probers
end_tenants
echo "note: seed $SEED: $joined pods joined all the same, $kept times the VF had to wait, $missed steps not come to"
expect_outages "$((joined + kept))"
