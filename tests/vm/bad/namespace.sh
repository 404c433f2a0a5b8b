#!/bin/bash
# Leaves a network namespace behind.
# verdict: FAIL the node is not as it was
ip netns add forgotten
