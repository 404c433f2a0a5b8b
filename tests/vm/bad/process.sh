#!/bin/bash
# Leaves a process behind.
# verdict: FAIL the node is not as it was
setsid sleep 1000 &
