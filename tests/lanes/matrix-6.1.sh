#!/usr/bin/env bash
# Every default VM case on kernel 6.1; ends with the table of all kernels.
exec "$(dirname "${BASH_SOURCE[0]}")/../vm/matrix" 6.1
