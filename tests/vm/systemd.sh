# systemd as the init of a PID namespace of the guest, for the cases about units: it knows no unit but those of $units, and
# its services have the guest's devices, network and files.
# shellcheck shell=bash disable=SC2016,SC2154

units=/run/systemd/system
systemd_pid=""

start_systemd() {
  local parent unit
  [ -x /lib/systemd/systemd ] || fail "no systemd here"
  at_end end_systemd
  mkdir -p /sys/fs/cgroup "$units"
  mountpoint -q /sys/fs/cgroup || mount -t cgroup2 cgroup2 /sys/fs/cgroup
  for unit in cases.target sysinit.target basic.target shutdown.target network-online.target; do
    printf '[Unit]\nDescription=%s\nDefaultDependencies=no\n' "$unit" >"$units/$unit"
  done
  # The mounts of its services are not the guest's.
  unshare --pid --mount --fork --kill-child --propagation slave bash -c '
    mount -t proc proc /proc
    exec env -i container=ibpod SYSTEMD_UNIT_PATH="$1" SYSTEMD_GENERATOR_PATH=/run/no PATH="$PATH" \
      /lib/systemd/systemd --system --unit=cases.target \
      --log-target=console --show-status=no' - "$units" >"$WORK/systemd.log" 2>&1 &
  parent=$!
  wait_for 20 pgrep -P "$parent"
  systemd_pid=$(pgrep -P "$parent")
  wait_for 60 in_systemd systemctl list-units
}

# It trusts the processes of its own PID namespace.
in_systemd() { nsenter --target "$systemd_pid" --pid --mount "$@"; } # COMMAND...

is_no_process() { [ ! -e "/proc/$1" ]; } # PID

# With its PID namespace all that it has started ends.
end_systemd() {
  [ -z "$systemd_pid" ] || kill -9 "$systemd_pid" 2>/dev/null || true
  wait_for 20 is_no_process "$systemd_pid"
  systemd_pid=""
  rm -rf /run/systemd /run/credentials
  find /sys/fs/cgroup -mindepth 1 -depth -type d -exec rmdir {} + 2>/dev/null || true
  umount /sys/fs/cgroup
}

property() { in_systemd systemctl show --property "$2" --value "$1"; } # UNIT PROPERTY
is_property() { [ "$(property "$1" "$2")" = "$3" ]; }                  # UNIT PROPERTY VALUE
