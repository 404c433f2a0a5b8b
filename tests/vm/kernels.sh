# The kernels that the test VM boots, and tests/softhca built for each. Sourced by tests/vm/run.
# 7 is not in this machine's Debian release: it comes from the next one's backports, with a build root of that release
# (about 900 MB, kept in $IBPOD_CACHE, default build/vm/kernels; delete it to get a newer one). Nothing outside is written.
# shellcheck shell=bash disable=SC2034,SC2154
next_suite=trixie

# Sets release, vmlinuz, modules_root (the folder that holds lib/modules) and build_root (a chroot, or empty).
find_kernel() { # KERNEL: 6.1, or 7
  if [ "$1" = 7 ]; then
    fetch_next_kernel
    return
  fi
  release=$(find /lib/modules -maxdepth 1 -name "$1.*-amd64" -printf '%f\n' | sort -V | tail -1)
  [ -n "$release" ] || die "no kernel $1 in /lib/modules"
  [ -e "/lib/modules/$release/build" ] || die "no headers of kernel $release"
  vmlinuz=/boot/vmlinuz-$release
  modules_root=/ build_root=""
}

fetch_next_kernel() {
  local cache=${IBPOD_CACHE:-$build/kernels}/$next_suite
  mkdir -p "$cache"
  build_root=$cache/root
  modules_root=$build_root/usr
  if [ ! -e "$cache/release" ]; then
    step "build root of $next_suite" make_build_root "$cache"
    step "kernel 7 of $next_suite-backports" unpack_next_kernel "$cache"
  fi
  release=$(cat "$cache/release")
  vmlinuz=$modules_root/lib/modules/$release/vmlinuz.unsigned
}

# The mirror that this machine's own apt uses.
debian_mirror() {
  find /etc/apt -name 'sources.list' -o -name '*.list' -o -name '*.sources' | sort | xargs cat |
    sed -nE 's!^(URIs:|deb( \[[^]]*\])?) +(https?://[^ ]+/debian/?)( .*)?$!\3!p' | awk 'NR == 1'
}

make_build_root() { # CACHE
  if [ -e "$1/root.done" ]; then return; fi
  rm -rf "$1/root"
  retry 3 debootstrap --variant=minbase --include=gcc-14,make,libelf1t64,libdw1t64,pahole "$next_suite" "$1/root" \
    "$(debian_mirror)"
  touch "$1/root.done"
}

# The kernel's packages are only unpacked into the build root: apt runs with a state of its own.
unpack_next_kernel() { # CACHE
  local apt=$1/apt key=/usr/share/keyrings/debian-archive-keyring.gpg mirror version package
  mirror=$(debian_mirror)
  mkdir -p "$apt"/{lists/partial,cache/archives/partial}
  touch "$apt/status"
  printf 'deb [signed-by=%s] %s %s main\n' "$key" "$mirror" "$next_suite-backports" "$key" "$mirror" "$next_suite" \
    >"$apt/sources"
  cat >"$apt/conf" <<END
Dir::State "$apt"; Dir::State::lists "$apt/lists"; Dir::State::status "$apt/status"; Dir::Cache "$apt/cache";
Dir::Etc::sourcelist "$apt/sources"; Dir::Etc::sourceparts "-"; APT::Sandbox::User "root";
END
  export APT_CONFIG=$apt/conf
  retry 3 apt-get -q update
  version=$(apt-cache search --names-only '^linux-kbuild-7' | awk '{print $1}' | sed 's/^linux-kbuild-//' |
    grep -v rc | sort -V | tail -1)
  for package in "linux-kbuild-$version" "linux-headers-$version-common" "linux-headers-$version-amd64" \
    "linux-modules-$version-amd64" "linux-binary-unsigned-$version-amd64"; do
    (cd "$apt" && rm -f "$package"_*.deb && retry 3 apt-get -q download "$package")
    dpkg -x "$apt/$package"_*.deb "$1/root"
    rm "$apt/$package"_*.deb
  done
  depmod -b "$1/root/usr" "$version-amd64"
  echo "$version-amd64" >"$1/release"
}

# Builds the module in a copy of its sources, when they changed. Sets $softhca.
build_softhca() {
  local work=$kernel_dir/softhca sources=$root/tests/softhca sum
  softhca=$work/softhca.ko
  sum=$(cd "$sources" && find . -type f ! -name '.*' -print0 | sort -z | xargs -0 sha256sum)
  if [ -e "$softhca" ] && [ "$sum" = "$(cat "$work/.sources" 2>/dev/null)" ]; then return; fi
  rm -rf "$work"
  cp -r "$sources" "$work"
  step "softhca for $release" make_softhca "$work"
  echo "$sum" >"$work/.sources"
}

make_softhca() { # FOLDER
  if [ -z "$build_root" ]; then
    make -j"$(nproc)" -C "/lib/modules/$release/build" M="$1" modules
    return
  fi
  rm -rf "$build_root/src"
  cp -r "$1" "$build_root/src"
  # objtool reads its limits in /proc; the mount ends with its namespace.
  unshare --mount sh -c "mount -t proc proc '$build_root/proc' &&
    exec chroot '$build_root' make -j$(nproc) -C '/usr/src/linux-headers-$release' M=/src CC=gcc-14 modules"
  cp "$build_root/src/softhca.ko" "$1/"
}
