#!/usr/bin/env bash
# Every default VM case on kernel 7; ends with the table of all kernels.
exec "$(dirname "${BASH_SOURCE[0]}")/../vm/matrix" 7
