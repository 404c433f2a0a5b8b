#!/usr/bin/env bash
# clang-tidy over every source of lib and cni.
exec "$(dirname "${BASH_SOURCE[0]}")/../tidy.sh" lib cni
