#!/usr/bin/env bash
# Writes an image of a folder's files, as an archive that containerd imports:  image.sh NAME FOLDER [PROGRAM [ARGUMENT...]]
set -euo pipefail
name=$1 tree=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tar -C "$tree" --owner 0 --group 0 --mtime @0 --sort name -cf "$work/layer.tar" .
jq -n --arg sum "sha256:$(sha256sum "$work/layer.tar" | cut -d' ' -f1)" '{
  architecture: "amd64", os: "linux", rootfs: {type: "layers", diff_ids: [$sum]},
  config: {Env: ["PATH=/usr/sbin:/usr/bin:/bin"], Entrypoint: $ARGS.positional}}' --args "$@" >"$work/config.json"
jq -n --arg name "$name" '[{Config: "config.json", RepoTags: [$name], Layers: ["layer.tar"]}]' >"$work/manifest.json"
tar -C "$work" -cf - manifest.json config.json layer.tar
