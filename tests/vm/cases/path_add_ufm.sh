#!/bin/bash
# UFM goes away at each step of an ADD: no pod gets into a partition that it does not belong to.
# deadline: 4700
# lane: path-add-ufm
. "$ROOT/tests/vm/path_ufm.sh"

outages_in_add ufm
