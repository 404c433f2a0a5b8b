#!/bin/bash
# The unit of ibpod-sm, with all that it forbids: OpenSM and umad work under it, and outlive a memory limit that ends ibpod-sm.
# deadline: 400
# quick: the subnet manager outlives ibpod-sm's memory limit
. "$ROOT/tests/vm/sm.sh"
. "$ROOT/tests/vm/systemd.sh"

# shellcheck disable=SC2034 # for sm.sh
sm_socket=/run/ibpod/sm.sock sm_opensm=/var/lib/ibpod-sm/opensm
vf=$(vf_pci 0 0)
set_static_guid 0 0 02:00:00:00:00:00:00:11

# As docs/by-hand.md installs it.
install_unit() {
  local key
  install -D -m 0755 "$IBPOD_BIN/ibpod-sm" /usr/local/sbin/ibpod-sm
  install -D -m 0644 "$ROOT/packages/ibpod-sm.service" "$units/ibpod-sm.service"
  install -d -m 0755 "$units/ibpod-sm.service.d"
  printf '[Service]\nStandardOutput=append:%s\nStandardError=append:%s\n' "$WORK/sm.log" "$WORK/sm.log" \
    >"$units/ibpod-sm.service.d/log.conf"
  install -d -m 0700 /etc/ibpod
  (umask 077; for key in m_key sm_key sa_key; do echo "0x$(openssl rand -hex 8)" >"/etc/ibpod/$key"; done)
  make_certificates 127.0.0.1
  issue admin /CN=ibpod-admin ""
  install -m 0600 "$WORK"/{sm.key,sm.crt,ca.crt} /etc/ibpod/
  sm_conf '.stateDir = "/var/lib/ibpod-sm" | .socket = "/run/ibpod/sm.sock" | .metricsAddress = "127.0.0.1:9465" |
    .roles = [{match: "CN=ibpod-admin", role: "administrator"}] |
    .listen = {address: "127.0.0.1:7473", certificate: "/etc/ibpod/sm.crt", key: "/etc/ibpod/sm.key", ca: "/etc/ibpod/ca.crt"} |
    .opensm += {mKeyFile: "/etc/ibpod/m_key", smKeyFile: "/etc/ibpod/sm_key", saKeyFile: "/etc/ibpod/sa_key", mKeyProtection: 1}' \
    02:00:00:00:00:00:00:11
  install -m 0600 "$WORK/sm.json" /etc/ibpod/sm.json
}

stop_unit() { in_systemd systemctl stop ibpod-sm; }
main_pid() { property ibpod-sm MainPID; }
is_another() { [ "$(main_pid)" != "$1" ] && [ "$(main_pid)" != 0 ]; } # PID
cgroup_of() { sed -n 's/^0:://p' "/proc/$1/cgroup"; }                 # PID
limit_of() { awk -v what="$1" 'index($0, what) == 1 {print $(NF - 1)}' "/proc/$2/limits"; } # "Max ..." PID

say "what the unit leaves open"
systemd-analyze security --offline=true --no-pager --threshold=25 "$ROOT/packages/ibpod-sm.service" >"$WORK/exposure" ||
  fail "$(tail -n 1 "$WORK/exposure")"
tail -n 1 "$WORK/exposure"

say "the unit starts"
at_end rm -rf /etc/ibpod /usr/local/sbin/ibpod-sm /var/lib/ibpod-sm /run/ibpod
start_systemd
install_unit
at_end plain_opensm
at_end end_opensm
at_end stop_unit
at_end tail -n 12 "$WORK/sm.log"
at_end forget_keys_of_unit
forget_keys_of_unit() { [ ! -e /etc/ibpod/m_key ] || forget_keys "$(cut -c3- /etc/ibpod/m_key)" "$PF0" "$PF1" "$vf"; }
stop_opensm
# The messages sent to syslog.
busybox syslogd -n -O "$WORK/syslog" &
syslogd=$!
at_end kill "$syslogd"
at_end rm -f /dev/log
wait_for 10 test -S /dev/log
in_systemd systemctl daemon-reload
in_systemd systemctl start ibpod-sm
wait_for 90 curl -sf --max-time 5 http://127.0.0.1:9465/readyz
wait_for 90 serves

say "a port gets its keys, and shows them"
sm partition create blue --pkey 0x0010 --membership full --allow default >/dev/null
expect_match "bind" "$(ask_bind c1 02:00:00:00:00:00:00:11 30 blue)" "verified *"
wait_for 30 has_pkey host "$vf" 0x8010

say "the service answers over TLS"
over_tls() { ibpodctl --sm 127.0.0.1:7473 --certificate "$WORK/admin.crt" --key "$WORK/admin.key" --ca "$WORK/ca.crt" "$@"; }
expect_match "partitions" "$(over_tls partition list)" "*blue*"
exposed() { curl -sf --max-time 10 http://127.0.0.1:9465/metrics | sed -n 's/^ibpod_sm_tls_key_exposed //p'; }
key_exposed() { [ "$(exposed)" = "$1" ]; } # 0|1
wait_for 20 key_exposed 0
chmod 0644 /etc/ibpod/sm.key
wait_for 20 key_exposed 1
grep -q "private key of listen: /etc/ibpod/sm.key has mode 0644.*chmod 0600" "$WORK/sm.log" || fail "the log has no line of the TLS key"
chmod 0600 /etc/ibpod/sm.key
wait_for 20 key_exposed 0

say "OpenSM has a cgroup of its own, and what the unit forbids"
opensm=$(pidof opensm) service=$(pidof ibpod-sm)
expect_match "cgroup" "$(cgroup_of "$opensm")" "*/system.slice/ibpod-sm-opensm-*.scope"
expect_match "cgroup" "$(cgroup_of "$service")" "*/system.slice/ibpod-sm.service"
for pid in "$opensm" "$service"; do
  expect_eq "core files" "$(limit_of "Max core file size" "$pid")" 0
  expect_eq "capabilities" "$(sed -n 's/^CapPrm:\t//p' "/proc/$pid/status")" 0000000000080000
  expect_eq "seccomp" "$(sed -n 's/^Seccomp:\t//p' "/proc/$pid/status")" 2
done
if doctor | grep "memory limit"; then fail "the limit counts for OpenSM"; fi

say "no other user can read a secret"
find /var/lib/ibpod-sm /etc/ibpod -perm /077 >"$WORK/open"
[ ! -s "$WORK/open" ] || fail "others have access to $(xargs <"$WORK/open")"
logger -s "syslogd works" 2>/dev/null
wait_for 10 grep -q "syslogd works" "$WORK/syslog"
for key in m_key sm_key sa_key; do
  if grep -rlF "$(cat /etc/ibpod/$key)" "$WORK"/{syslog,sm.log,systemd.log} /var/lib/ibpod-sm/opensm/opensm.log; then fail "$key is in a log"; fi
done

say "a restart finds OpenSM again"
in_systemd systemctl restart ibpod-sm
wait_for 90 serves
expect_eq "OpenSM" "$(pidof opensm)" "$opensm"

say "the memory limit ends ibpod-sm, and not OpenSM"
service=$(main_pid) kills=$(dmesg | grep -c 'Memory cgroup out of memory' || true)
in_systemd systemctl set-property --runtime ibpod-sm MemoryMax=4M
wait_for 90 is_another "$service"
[ "$(dmesg | grep -c 'Memory cgroup out of memory')" -gt "$kills" ] || fail "the kernel has ended nothing for memory"
if dmesg | grep 'Killed process.*(opensm)'; then fail "the kernel has ended OpenSM"; fi
in_systemd systemctl set-property --runtime ibpod-sm MemoryMax=1G
wait_for 90 serves
expect_eq "OpenSM" "$(pidof opensm)" "$opensm"
expect_match "the binding" "$(state_of c1)" "verified *"

say "the end of ibpod-sm is not the end of OpenSM"
expect_match "unbind" "$(ask_unbind c1 30)" "*"
in_systemd systemctl stop ibpod-sm
expect_eq "OpenSM" "$(pidof opensm)" "$opensm"

say "an OpenSM with all capabilities, as an older unit has started it, is found, too"
end_opensm
in_systemd ibpod-sm --config /etc/ibpod/sm.json >>"$WORK/sm.log" 2>&1 &
by_hand=$!
wait_for 90 serves
opensm=$(pidof opensm)
kill "$(pidof ibpod-sm)"
wait "$by_hand"
in_systemd systemctl start ibpod-sm
wait_for 90 serves
expect_eq "OpenSM" "$(pidof opensm)" "$opensm"

say "a key that others can read is reported; the OpenSM that runs is found, and serves"
in_systemd systemctl stop ibpod-sm
chmod 0644 /etc/ibpod/m_key
in_systemd systemctl start ibpod-sm
wait_for 90 grep -q "opensm.mKeyFile: /etc/ibpod/m_key has mode 0644.*run chmod 0600 /etc/ibpod/m_key" "$WORK/sm.log"
expect_eq "OpenSM" "$(pidof opensm)" "$opensm"
wait_for 90 serves
