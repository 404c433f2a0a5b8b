#!/usr/bin/env bash
# Measures size, process start, own code, ADD and DEL in the test VM, and the agent; of these only the size is judged.
exec "$(dirname "${BASH_SOURCE[0]}")/../bench/run" "$@"
