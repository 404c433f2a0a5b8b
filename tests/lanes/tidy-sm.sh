#!/usr/bin/env bash
# clang-tidy over every source of sm and ctl.
exec "$(dirname "${BASH_SOURCE[0]}")/../tidy.sh" sm ctl
