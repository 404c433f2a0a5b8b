#!/usr/bin/env bash
# Measures size, process start, own code, ADD and DEL in the test VM, the agent, the registry and the path of a pod; only sizes are judged.
exec "$(dirname "${BASH_SOURCE[0]}")/../bench/run" "$@"
