#!/usr/bin/env bash
# clang-tidy over every source of tests.
exec "$(dirname "${BASH_SOURCE[0]}")/../tidy.sh" tests
