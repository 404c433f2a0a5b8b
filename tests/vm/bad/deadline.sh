#!/bin/bash
# Runs beyond its deadline, and does not listen to SIGTERM; nothing of it is left.
# deadline: 3
# verdict: FAIL killed at its deadline of 3 s
trap '' TERM
sleep 1000 &
while true; do sleep 1; done
