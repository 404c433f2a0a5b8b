#!/bin/bash
# Skips itself, with a reason.
# verdict: skip no such device here
. "$ROOT/tests/vm/lib.sh"
skip "no such device here"
