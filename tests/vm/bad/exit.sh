#!/bin/bash
# Fails by its exit code.
# verdict: FAIL exit 3
echo "the last words"
exit 3
