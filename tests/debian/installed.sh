# Checks of the Debian packages in a clean root. Sourced by the lane packages, after root.sh and built.sh.
# shellcheck shell=bash disable=SC2016,SC2034,SC2154

paths=(/usr/sbin/ibpod-sm /usr/bin/ibpod-agent /usr/bin/ibpodctl /usr/lib/cni/ib-sriov /usr/lib/cni/ipoib)

within() { # SECONDS COMMAND...
  local end=$((SECONDS + $1))
  until "${@:2}" >/dev/null 2>&1; do
    if [ "$SECONDS" -ge "$end" ]; then
      "${@:2}"
      return
    fi
    sleep .2
  done
}

property() { inside systemctl show --property "$2" --value "$1"; } # UNIT PROPERTY
main_pid() { property "$1" MainPID; }                              # UNIT
processes() { pgrep --ns "$init" --nslist pid -x "$1"; }           # NAME: their numbers on this machine
no_process() { [ -e "/proc/$init/exe" ] && ! processes "$1"; }     # NAME

is_property() { # UNIT PROPERTY GLOB
  local value
  value=$(property "$1" "$2") && expect "$value" "$3"
}

# The version is in the first line; a plugin prints it on standard error.
prints_version() { # PATH
  expect "$(inside "$1" --version 2>&1 | head -n 1)" "*$version*"
}

is_off() { # UNIT
  expect "$(inside systemctl is-enabled "$1" || true)" disabled && is_property "$1" ActiveState inactive
}

never_started() { # UNIT
  is_property "$1" ActiveEnterTimestamp "" && is_property "$1" InactiveExitTimestamp ""
}

unit_verifies() { inside systemd-analyze verify "$1.service"; } # UNIT: and its manual page is there

print_exposure() { # UNIT
  echo "        $1.service: $(inside systemd-analyze security --offline=true --no-pager "/lib/systemd/system/$1.service" |
    sed -n 's/^.*Overall exposure level for .*: //p')"
}

is_exposed_below() { # UNIT TENTHS
  inside systemd-analyze security --offline=true --no-pager --threshold="$2" "/lib/systemd/system/$1.service"
}

# --- ibpod-sm on a simulated subnet ---------------------------------------------------------------------------------------

# OpenSM inherits no environment: a program of its name brings the library that leads to the simulator.
prepare_simulation() {
  local there=$tree/usr/local/lib/simulation library
  library=$(cd "$tree" && echo /usr/lib/*/umad2sim/libumad2sim.so)
  mkdir -p "$there"
  printf 'Switch 2 "s0"\n[1] "h0"[1]\n[2] "h1"[1]\n\nHca 1 "h0"\n[1] "s0"[1]\n\nHca 1 "h1"\n[1] "s0"[2]\n' >"$there/network"
  printf '#!/bin/sh\nexec env SIM_HOST=h0 IBSIM_SOCKNAME=lane LD_PRELOAD=%s /usr/sbin/opensm "$@"\n' "$library" >"$there/opensm"
  chmod +x "$there/opensm"
  printf '[Service]\nWorkingDirectory=/var/lib/ibpod-sm\nEnvironment=SIM_HOST=h0 IBSIM_SOCKNAME=lane LD_PRELOAD=%s\n' \
    "$library" >"$there/simulation.conf"
}

start_simulation() {
  inside systemd-run --quiet --unit ibsim --setenv IBSIM_SOCKNAME=lane --property WorkingDirectory=/usr/local/lib/simulation \
    ibsim -s -n network
  inside mkdir -p /run/systemd/system/ibpod-sm.service.d
  inside cp /usr/local/lib/simulation/simulation.conf /run/systemd/system/ibpod-sm.service.d/
  inside systemctl daemon-reload
  jq '.opensm = {program: "/usr/local/lib/simulation/opensm"} | del(.listen, .roles)' \
    "$tree/usr/share/doc/ibpod-sm/examples/sm.json" >"$tree/etc/ibpod/sm.json"
}

serves() { { inside ibpodctl doctor --fabric-only --all || true; } | grep '^ok: SM service: serving'; } # it finds weaknesses
has_partition() { inside ibpodctl partition list | grep '^blue '; }
has_restarted() { [ "$(main_pid "$1")" != 0 ] && [ "$(main_pid "$1")" != "$2" ]; } # UNIT PID

serves_a_partition() {
  inside systemctl start ibpod-sm && within 60 serves && inside ibpodctl partition create blue --pkey 0x1010 && has_partition
}

agent_runs() {
  inside systemctl start ibpod-agent && within 30 inside ibpodctl attachments
}

# --- what an administrator does ---------------------------------------------------------------------------------------------

upgrade_restarts() { # UNIT: what runs
  local before
  before=$(main_pid "$1")
  apt_of_root install "./later/${1}_*.deb" && within 30 has_restarted "$1" "$before" &&
    expect "$(inside dpkg-query --show --showformat '${Version}' "$1")" "$later"
}

# Enabled, and stopped by the administrator.
upgrade_starts_nothing() { # UNIT
  inside systemctl enable "$1" && inside systemctl stop "$1" && apt_of_root install --reinstall "./later/${1}_*.deb" &&
    is_property "$1" ActiveState inactive
}

same_opensm() { [ "$(processes opensm)" = "$opensm" ] || { processes opensm; return 1; }; }

purge_is_refused() { # PACKAGE GLOB-OF-THE-REASON
  refused "$2" apt_of_root purge "$1"
}

is_gone() { [ ! -e "$tree$1" ] || { find "$tree$1"; return 1; }; } # PATH
is_kept() { [ -e "$tree$1" ]; }                                   # PATH

nothing_is_left() {
  diff "$work/files.before" <(files_of_root)
}
