#!/bin/sh
# Puts files onto a node, each whole or not at all, even if this is killed or another process reads the folder meanwhile.
#
#   install.sh programs FROM TO       every file of FROM, executable, into the folder TO (the runtime's CNI programs)
#   install.sh configuration FILE TO  one network configuration into the folder TO (the runtime's CNI configurations)
#
# A file that is there already with that content is not touched. A new one is written beside its place and renamed:
# a program that runs goes on with its own file, and a runtime that watches the folder sees the new name come from there
# (containerd takes no notice of a file renamed in from another folder). The lock keeps two that run at once apart.
set -eu

usage() {
  sed -n '4,5s/^# *//p' "$0" >&2
  exit 2
}

put() { # FILE FOLDER MODE
  name=${1##*/}
  if cmp -s "$1" "$2/$name"; then return; fi
  cp "$1" "$2/.$name.new"
  chmod "$3" "$2/.$name.new"
  sync "$2/.$name.new"
  mv -fT "$2/.$name.new" "$2/$name"
  sync "$2"
  echo "$2/$name"
}

[ $# = 3 ] || usage
[ -d "$3" ] || { echo "$3: no such folder" >&2; exit 1; }
exec 9<"$3"
flock 9
case $1 in
  programs)
    for file in "$2"/*; do put "$file" "$3" 0755; done
    ;;
  configuration)
    put "$2" "$3" 0644
    ;;
  *) usage ;;
esac
