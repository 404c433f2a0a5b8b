#!/bin/bash
# Leaves a link behind, and has not failed otherwise.
# verdict: FAIL the node is not as it was
ip link add link "$(ls "/sys/bus/pci/devices/$PF0/net")" name left0 type ipoib pkey 0x8001
