#!/bin/sh
# Fails if a program contains code of the gRPC library: cmake/without_grpc.sh NM FILE-WITH-SYMBOLS
# A plugin starts for each call of a runtime; with gRPC it is three times as large and starts more slowly.
set -eu
if "$1" "$2" | grep --quiet _ZN4grpc; then
  echo "$2 contains gRPC: which library that a plugin uses has an object that needs it? (SINGLE in its CMakeLists.txt)" >&2
  exit 1
fi
