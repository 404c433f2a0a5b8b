#!/usr/bin/env bash
# Measures process start, own code, and ADD and DEL in the test VM; records, does not judge.
exec "$(dirname "${BASH_SOURCE[0]}")/../bench/run"
