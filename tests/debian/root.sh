# A clean Debian 12 in a folder, with systemd as its init, which runs in namespaces of its own: no network but its loopback.
# Sourced, after tools.sh; $work is a folder for a while.
# shellcheck shell=bash disable=SC2016,SC2154

tree=$work/root # its files; what is mounted below /run, /dev, /proc and /sys is seen inside only
init=""         # its first process

# With apt's lists, and what this machine's apt needs to reach its mirrors.
make_root() { # PACKAGE...
  debian_sources >"$work/sources"
  mmdebstrap --quiet --mode=root --variant=apt --skip=cleanup/apt/lists --include="systemd,$(IFS=,; echo "$*")" \
    bookworm "$tree" "$work/sources"
  apt-config dump Acquire >"$tree/etc/apt/apt.conf.d/90acquire"
  cp -L /etc/resolv.conf "$tree/etc/resolv.conf"
}

start_root() {
  local parent tries=0
  unshare --pid --mount --uts --ipc --net --fork --kill-child bash -euc '
    tree=$1
    mount --bind "$tree" "$tree"
    mount -t proc proc "$tree/proc"
    mount -t sysfs sysfs "$tree/sys"
    mount -t cgroup2 cgroup2 "$tree/sys/fs/cgroup"
    mount -t tmpfs -o mode=755 tmpfs "$tree/run"
    mount -t tmpfs -o mode=755 tmpfs "$tree/dev"
    mkdir "$tree"/dev/{pts,shm,mqueue}
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$tree/dev/pts"
    ln -s pts/ptmx "$tree/dev/ptmx"
    for node in null zero full random urandom tty; do
      touch "$tree/dev/$node"
      mount --bind "/dev/$node" "$tree/dev/$node"
    done
    hostname clean-root
    exec env -i container=ibpod PATH=/usr/sbin:/usr/bin:/sbin:/bin \
      chroot "$tree" /lib/systemd/systemd --system --unit=basic.target --log-target=console --show-status=no' - "$tree" \
    >"$work/systemd.log" 2>&1 &
  parent=$!
  until init=$(pgrep -P "$parent") && inside systemctl is-system-running --wait >/dev/null 2>&1; do
    [ $((tries += 1)) -lt 300 ] || die "systemd does not run: $(tail -n 5 "$work/systemd.log")"
    sleep .2
  done
  inside_network ip link set lo up
}

inside() { # COMMAND...: in the root
  nsenter --target "$init" --mount --pid --net --ipc --uts --root --wd \
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@"
}

inside_network() { nsenter --target "$init" --net "$@"; } # COMMAND...: of this machine, on the root's loopback

# A command line in the root's /root, with this machine's network.
online() { # COMMAND-LINE
  nsenter --target "$init" --mount --pid --root --wd \
    env -i --chdir=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive sh -c "$1"
}

apt_of_root() { online "apt-get --yes --quiet $*"; } # ARGUMENT...

# Its files, without those that apt, dpkg and systemd keep for themselves.
files_of_root() {
  find "$tree" -xdev \( -path "$tree/var/cache" -o -path "$tree/var/log" -o -path "$tree/var/lib/apt" -o \
    -path "$tree/var/lib/dpkg" -o -path "$tree/var/lib/systemd" -o -path "$tree/root" -o -path "$tree/tmp" -o \
    -path "$tree/var/tmp" \) -prune -o -printf '%P %y %m\n' | sort
}

