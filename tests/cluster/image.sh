#!/usr/bin/env bash
# Writes an image with one program in /bin, as an archive that containerd imports:  image.sh NAME PROGRAM [ARGUMENT...]
# The program is static. Busybox gets its links.
set -euo pipefail
name=$1 program=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree

mkdir -p "$tree"/{bin,etc,tmp,proc,sys,dev}
cp "$program" "$tree/bin/"
program=$(basename "$program")
echo 'root:x:0:0:root:/root:/bin/sh' >"$tree/etc/passwd"
if [ "$program" = busybox ]; then
  for link in $(busybox --list); do [ "$link" = busybox ] || ln -s busybox "$tree/bin/$link"; done
fi
tar -C "$tree" --owner 0 --group 0 --mtime @0 --sort name -cf "$work/layer.tar" .
jq -n --arg program "/bin/$program" --arg sum "sha256:$(sha256sum "$work/layer.tar" | cut -d' ' -f1)" '{
  architecture: "amd64", os: "linux", rootfs: {type: "layers", diff_ids: [$sum]},
  config: {Env: ["PATH=/bin"], Entrypoint: [$program], Cmd: $ARGS.positional}}' --args "$@" >"$work/config.json"
jq -n --arg name "$name" '[{Config: "config.json", RepoTags: [$name], Layers: ["layer.tar"]}]' >"$work/manifest.json"
tar -C "$work" -cf - manifest.json config.json layer.tar
