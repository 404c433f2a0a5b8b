#!/bin/bash
# UFM goes away at each step of a DEL: it answers, and the VF waits until it is clean.
# deadline: 4700
# lane: path-del-ufm
. "$ROOT/tests/vm/path_ufm.sh"

outages_in_del ufm
