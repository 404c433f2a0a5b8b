#!/bin/bash
# Leaves its GUID on a VF.
# verdict: FAIL the node is not as it was
ip link set "$(ls "/sys/bus/pci/devices/$PF0/net")" vf 1 port_guid 00:11:22:33:44:55:66:01
