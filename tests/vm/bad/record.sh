#!/bin/bash
# Leaves a file behind.
# verdict: FAIL the node is not as it was
mkdir -p /var/lib/ibpod/attachments/x
echo '{}' >/var/lib/ibpod/attachments/x/y.json
