# The kernels that the test VM boots, and tests/softhca built for each. Sourced by tests/vm/run.
# 6.1 is this Debian release's own, and installed. 6.12 comes from this release's backports, 7 from the next one's; they
# are only unpacked, and kept in $IBPOD_CACHE (default build/vm/kernels; delete it to get newer ones). The tools that build a
# module for 7 are newer than this machine: it has a build root of its release. 250 MB and 900 MB; nothing outside is
# written.
# shellcheck shell=bash disable=SC2034,SC2154
kernels="6.1 6.12 7"

# Sets release, vmlinuz, modules_root (the folder that holds lib/modules), headers_root (the one that holds the headers'
# usr/src) and build_root (a chroot in which the module is built, or empty).
find_kernel() { # KERNEL: one of $kernels
  case $1 in
    6.12) fetched_kernel bookworm 6.12 ;;
    7) fetched_kernel trixie 7 gcc-14,make,libelf1t64,libdw1t64,pahole ;;
    *) installed_kernel "$1" ;;
  esac
}

installed_kernel() { # PREFIX
  release=$(find /lib/modules -maxdepth 1 -name "$1.*-amd64" -printf '%f\n' | sort -V | tail -1)
  [ -n "$release" ] || die "no kernel $1 in /lib/modules"
  [ -e "/lib/modules/$release/build" ] || die "no headers of kernel $release"
  vmlinuz=/boot/vmlinuz-$release
  modules_root=/ headers_root="" build_root=""
}

# The newest one with that prefix in the suite's backports. With packages for it a build root of the suite is made.
fetched_kernel() { # SUITE PREFIX [PACKAGES]
  local cache=${IBPOD_CACHE:-$build/kernels}/$1 lock
  mkdir -p "$cache"
  # Several clones may share the cache.
  exec {lock}>"$(dirname "$cache")/lock"
  flock "$lock"
  if [ ! -e "$cache/release" ]; then
    install_packages kernels
    if [ -n "${3:-}" ]; then step "build root of $1" make_build_root "$cache" "$1" "$3"; fi
    step "kernel $2 of $1-backports" unpack_kernel "$cache" "$1" "$2"
  fi
  exec {lock}>&-
  release=$(cat "$cache/release")
  modules_root=$cache/root headers_root=$cache/root build_root=""
  if [ -n "${3:-}" ]; then headers_root="" build_root=$cache/root; fi
  vmlinuz=$modules_root/boot/vmlinuz-$release
  if [ ! -e "$vmlinuz" ]; then vmlinuz=$modules_root/lib/modules/$release/vmlinuz.unsigned; fi
}

make_build_root() { # CACHE SUITE PACKAGES
  if [ -e "$1/root.done" ]; then return; fi
  rm -rf "$1/root"
  retry 3 debootstrap --variant=minbase --include="$3" "$2" "$1/root" "$(debian_mirror)"
  touch "$1/root.done"
}

# The kernel's packages are only unpacked: apt runs with a state of its own.
unpack_kernel() { # CACHE SUITE PREFIX
  local version package
  own_apt "$1/apt" "$2"
  version=$(apt-cache pkgnames "linux-kbuild-$3." | sed '/rc/d; s/^linux-kbuild-//' | sort -V | tail -1)
  [ -n "$version" ] || die "no kernel $3 in $2-backports"
  mkdir -p "$1/root"
  for package in $(kernel_packages "$version"); do
    (cd "$1/apt" && rm -f "$package"_*.deb && retry 3 apt-get -q download "$package")
    dpkg -x "$1/apt/$package"_*.deb "$1/root"
    rm "$1/apt/$package"_*.deb
  done
  depmod -b "$1/root" "$version-amd64"
  echo "$version-amd64" >"$1/release"
}

# An older kernel's image and modules are one package, a newer one's are two.
kernel_packages() { # VERSION
  apt-cache pkgnames linux- | grep -Fx -e "linux-kbuild-$1" -e "linux-headers-$1-common" -e "linux-headers-$1-amd64" \
    -e "linux-image-$1-amd64-unsigned" -e "linux-modules-$1-amd64" -e "linux-binary-unsigned-$1-amd64"
}

# From here on apt knows the suite and its backports, and nothing of this machine's packages.
own_apt() { # FOLDER SUITE
  local key=/usr/share/keyrings/debian-archive-keyring.gpg mirror
  mirror=$(debian_mirror)
  mkdir -p "$1"/{lists/partial,cache/archives/partial}
  touch "$1/status"
  printf 'deb [signed-by=%s] %s %s main\n' "$key" "$mirror" "$2-backports" "$key" "$mirror" "$2" >"$1/sources"
  cat >"$1/conf" <<END
Dir::State "$1"; Dir::State::lists "$1/lists"; Dir::State::status "$1/status"; Dir::Cache "$1/cache";
Dir::Etc::sourcelist "$1/sources"; Dir::Etc::sourceparts "-"; APT::Sandbox::User "root";
END
  export APT_CONFIG=$1/conf
  retry 3 apt-get -q update
}

# Builds the module in copies of its sources, when they changed: once for each subnet. Sets $softhca, and $softhca2 for
# the cases about two.
build_softhca() {
  softhca=$kernel_dir/softhca/softhca.ko softhca2=$kernel_dir/softhca2/softhca2.ko
  build_module softhca
  build_module softhca2
}

build_module() { # NAME
  local work=$kernel_dir/$1 sources=$root/tests/softhca sum
  sum=$(cd "$sources" && find . -type f ! -name '.*' -print0 | sort -z | xargs -0 sha256sum)
  if [ -e "$work/$1.ko" ] && [ "$sum" = "$(cat "$work/.sources" 2>/dev/null)" ]; then return; fi
  rm -rf "$work"
  cp -r "$sources" "$work"
  step "$1 for $release" make_module "$1" "$work"
  echo "$sum" >"$work/.sources"
}

# The headers' own Makefile names /usr/src, where unpacked ones are not: so both of their folders are named.
make_module() { # NAME FOLDER
  local headers=$headers_root/usr/src/linux-headers-${release%-amd64} kbuild
  kbuild=(make -j"$(nproc)" -C "$headers-common" O="$headers-amd64" MODULE="$1")
  if [ -z "$build_root" ]; then
    "${kbuild[@]}" M="$2" modules
    return
  fi
  mkdir -p "$build_root/src"
  # objtool reads its limits in /proc; the mounts end with their namespace.
  # shellcheck disable=SC2016
  unshare --mount bash -c 'mount -t proc proc "$1/proc" && mount --bind "$2" "$1/src" && exec chroot "$1" "${@:3}"' \
    _ "$build_root" "$2" "${kbuild[@]}" M=/src modules
}
