#!/bin/bash
# UFM goes away at a step of a DEL: the VF waits until it is clean. (At each step, and at those of an ADD: lanes path-add-ufm, path-del-ufm.)
# deadline: 600
# complaint: infiniband softhca_[0-9]+: Couldn't open port 1
. "$ROOT/tests/vm/path_ufm.sh"

outages_in_del ufm
