#!/usr/bin/env bash
# Every fuzz target, for a minute each.
exec "$(dirname "${BASH_SOURCE[0]}")/../fuzz.sh" 60
