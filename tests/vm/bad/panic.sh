#!/bin/bash
# Kills the kernel.
# verdict: FAIL the guest died
echo c >/proc/sysrq-trigger
sleep 30
