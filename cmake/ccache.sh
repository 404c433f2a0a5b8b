#!/usr/bin/env bash
# Compiles by way of ccache, so that a clone finds what another clone elsewhere has compiled.
#
#   cmake/ccache.sh COMPILER ARGUMENT...
#
# Two things keep ccache by itself from it. CMake gives clang the precompiled header as "-Xclang -include -Xclang PATH",
# which ccache hashes as it is; here such a path is relative. And a precompiled header contains paths; here its checksum
# is that of the headers that it was made of (CCACHE_PCH_EXTSUM: in a file beside it).
set -euo pipefail
root=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1
# Where headers are precompiled, ccache asks for the first two, and for -fno-pch-timestamp or -fpch-preprocess; the
# other two are for the headers of a fresh clone.
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime

arguments=() before="" output="" rule=""
for argument; do
  case $before in
    -o) output=$argument ;;
    -MF) rule=$argument ;;
    -Xclang) argument=${argument/#"$PWD/"/} ;;
  esac
  arguments+=("$argument")
  before=$argument
done
case $output in
  *.pch | *.gch) ;;
  *) exec ccache "${arguments[@]}" ;;
esac

"${arguments[@]}"
# The rule is "OUTPUT: HEADER HEADER", with a backslash at the end of each line but the last.
sed -e 's/^[^ ]*: *//' -e 's/\\$//' "$rule" | xargs cat | sha256sum >"$output.sum"
