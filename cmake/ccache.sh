#!/usr/bin/env bash
# Compiles by way of ccache, so that a clone finds what another clone elsewhere has compiled.
#
#   cmake/ccache.sh CCACHE COMPILER ARGUMENT...
#
# By itself ccache does not do that, for two reasons. CMake gives clang the precompiled header as "-Xclang -include
# -Xclang PATH", which ccache hashes as it is; here such a path is relative. And a precompiled header contains paths:
# here it is not cached, and counts as the headers that it was made of, whose checksum is in a file beside it
# (CCACHE_PCH_EXTSUM). All that use it are compiled with its options (ibpod_compile_as), so these are not in the sum.
set -euo pipefail
root=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1
# If headers are precompiled, ccache asks for the first two, and for -fno-pch-timestamp or -fpch-preprocess; the
# other two are for the headers of a fresh clone.
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime

ccache=$1
shift
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
  *) exec "$ccache" "${arguments[@]}" ;;
esac

if [ -z "$rule" ]; then echo "$0: $output: -MF is missing" >&2 && exit 1; fi
rm -f "$output.sum" # without it ccache reads the header itself
"${arguments[@]}"
# The rule is "OUTPUT: HEADER HEADER", with a backslash at the end of each line but the last.
sed -e 's/^[^ ]*: *//' -e 's/\\$//' "$rule" | xargs cat | sha256sum >"$output.sum.new"
mv "$output.sum.new" "$output.sum"
