# The images of the cluster lane, made of this machine's own files, as no registry is asked. Sourced; $root is the repository.
# shellcheck shell=bash disable=SC2154

# Those that do not change with the sources.
build_images() { make_once images "$images" fill_images; }

fill_images() { # FOLDER
  local tree=$1/trees
  pause_tree "$tree/pause"
  busybox_tree "$tree/busybox"
  debian_tree "$tree/debian"
  "$root/tests/cluster/image.sh" localhost/pause:1 "$tree/pause" /bin/pause >"$1/pause.tar"
  "$root/tests/cluster/image.sh" localhost/busybox:1 "$tree/busybox" /bin/busybox sh >"$1/busybox.tar"
  "$root/tests/cluster/image.sh" docker.io/library/debian:bookworm-slim "$tree/debian" /bin/sh >"$1/debian.tar"
  rm -r "$tree"
}

# Our own, of the programs that are built, with what images/NAME.conf lists; OpenSM is the one of Debian's package.
build_our_images() {
  build_our_image agent
  unpack_opensm
  build_our_image sm "$(realpath --relative-to="$root" "$(command -v opensm)") /usr/sbin"
}

build_our_image() { # NAME ["FILE FOLDER"...]
  # shellcheck disable=SC2034 # title and packages are for images/build.sh
  local tree=$cluster/$1.tree title packages files entrypoint
  rm -rf "$tree"
  debian_tree "$tree"
  # shellcheck disable=SC1090
  . "$root/images/$1.conf"
  add_files "$tree" "${files[@]}" "${@:2}"
  "$root/tests/cluster/image.sh" "docker.io/ibpod/$1:0.1.0" "$tree" "$entrypoint" >"$cluster/$1.tar"
}

# --- what is in them ----------------------------------------------------------------------------------------------------

bare_tree() { # FOLDER
  mkdir -p "$1"/{bin,etc,tmp,proc,sys,dev}
  echo 'root:x:0:0:root:/root:/bin/sh' >"$1/etc/passwd"
}

# Holds a pod's namespaces open.
pause_tree() { # FOLDER
  bare_tree "$1"
  echo 'int pause(void); int main(void) { for (;;) pause(); }' | gcc -O2 -static -x c -o "$1/bin/pause" -
}

busybox_tree() { # FOLDER
  local link
  bare_tree "$1"
  cp "$(command -v busybox)" "$1/bin/"
  for link in $(busybox --list); do [ "$link" = busybox ] || ln -s busybox "$1/bin/$link"; done
}

# As much of a Debian as pods here need.
debian_tree() { # FOLDER
  local name
  mkdir -p "$1"/usr/{bin,lib,lib64} "$1"/{etc,tmp,proc,sys,dev,run,var}
  chmod 755 "$1"
  for name in bin lib lib64; do ln -s "usr/$name" "$1/$name"; done
  ln -s /run "$1/var/run"
  echo 'root:x:0:0:root:/root:/bin/sh' >"$1/etc/passwd"
  echo 'hosts: files dns' >"$1/etc/nsswitch.conf"
  for name in sh cat chmod cmp cp flock mv sleep sync; do
    cp -L "$(command -v "$name")" "$1/usr/bin/"
    add_libraries "$1" "$1/usr/bin/$name"
  done
}

add_libraries() { # FOLDER PROGRAM: those that it is linked with
  local library
  for library in $({ ldd "$2" 2>/dev/null || true; } | grep -o '/[^ ]*'); do
    mkdir -p "$1$(dirname "$library")"
    cp -L "$library" "$1$library"
  done
}

# Copies files with the libraries of this machine: that the packages of the image have them is checked by images/build.sh.
add_files() { # TREE "FILE FOLDER"...
  local tree=$1 file folder
  shift
  while read -r file folder; do
    mkdir -p "$tree$folder"
    cp "$root/$file" "$tree$folder/"
    add_libraries "$tree" "$root/$file"
  done < <(printf '%s\n' "$@")
}
