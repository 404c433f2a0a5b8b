#!/usr/bin/env bash
# The Debian packages: built twice, lintian, manual pages; in a clean Debian 12 installed, upgraded, removed and purged.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/tests/tools.sh"
. "$root/tests/cluster/checks.sh"
work=$(mktemp -d)
made=$root/build/packages version=$(project_version)
programs=${PROGRAMS:-$root/build/release/bin}
later=1000.0                                     # the version of the upgrade
declare -A exposure=([ibpod-sm]=23 [ibpod-agent]=35) # tenths, at most, by systemd-analyze security
. "$root/tests/debian/root.sh"
. "$root/tests/debian/built.sh"
. "$root/tests/debian/installed.sh"
trap '[ -z "$init" ] || kill -9 "$init" && wait; rm -rf "$work"' EXIT

# The commands of a section of the page: on this machine, or, if they are an administrator's, in the root.
apt() { apt_of_root "$@"; }
systemctl() { inside systemctl "$@"; }
ibpod-sm() { inside ibpod-sm "$@"; }
ibpod-agent() { inside ibpod-agent "$@"; }
run_section() { # HEADING
  awk -v heading="## $1" '/^## / {within = $0 == heading} within' "$root/docs/packages.md" |
    awk -v place="host tests/lanes/packages.sh" -f "$root/tests/blocks.awk" >"$work/page.sh"
  grep . "$work/page.sh" || return
  (
    export init
    export -f apt systemctl ibpod-sm ibpod-agent apt_of_root online inside
    cd "$root" && bash -euxo pipefail "$work/page.sh"
  )
}

check_built() {
  check "docs/packages.md: build" run_section Build
  check "the same bytes again" same_again
  print_sizes
  check "lintian" lintian --allow-root --fail-on error,warning "$made"/*_"$version"_*.deb
  for page in "${pages[@]}"; do check "its options are those of --help: $page" manual_agrees "$page"; done
  check "completion" "$root/packages/completion_test.sh" "$programs/ibpodctl"
}

make_empty_root() {
  make_root man-db kubernetes-client ibsim-utils infiniband-diags libopensm9 libosmcomp5 libosmvendor5 libwrap0
  prepare_simulation
  mkdir "$tree/root/later"
}

# All that the packages depend on, so that they alone come and go.
add_dependencies() {
  local name
  for name in "${names[@]}"; do
    dpkg-deb --field "$(file_of "$name")" Depends >>"$work/depends"
    cp "$(file_of "$name")" "$tree/root/"
    cp "$work/later/$name"_*.deb "$tree/root/later/"
  done
  apt_of_root satisfy "'$(grep . "$work/depends" | paste -sd,)'"
  files_of_root >"$work/files.before"
}

check_installed() {
  local path unit
  check "docs/packages.md: ibpod-sm" run_section "ibpod-sm"
  check "docs/packages.md: the agent" run_section "The agent of a host outside Kubernetes"
  for path in "${paths[@]}"; do check "its version: $path" prints_version "$path"; done
  check "kubectl ibpod" expect "$(inside kubectl ibpod --version)" "$version"
  check "no OpenSM was started" never_started opensm
  check "no OpenSM runs" no_process opensm
  for unit in ibpod-sm ibpod-agent; do
    check "$unit is off" is_off "$unit"
    check "$unit was not started" never_started "$unit"
    check "$unit: systemd-analyze verify" unit_verifies "$unit"
    check "$unit: systemd-analyze security" is_exposed_below "$unit" "${exposure[$unit]}"
    print_exposure "$unit"
  done
}

check_upgrade() {
  start_simulation
  echo '{"kubelet": false, "cdi": false, "rdmaNetns": "keep", "sweepSeconds": 61}' >"$tree/etc/ibpod/agent.json"
  check "ibpod-sm serves a simulated subnet" serves_a_partition
  opensm=$(processes opensm)
  check "the agent runs" agent_runs
  for unit in ibpod-sm ibpod-agent; do check "an upgrade restarts $unit" upgrade_restarts "$unit"; done
  check "the same OpenSM serves" within 60 serves
  check "it is the same process" same_opensm
  check "the partition is there" has_partition
  check "the edited configuration stays" grep '"sweepSeconds": 61' "$tree/etc/ibpod/agent.json"
  for unit in ibpod-sm ibpod-agent; do check "an upgrade does not start a stopped $unit" upgrade_starts_nothing "$unit"; done
  inside systemctl start ibpod-sm ibpod-agent
}

check_removal() {
  local boot attachments=$tree/var/lib/ibpod/attachments/device
  boot=$(cat /proc/sys/kernel/random/boot_id)
  check "docs/packages.md: remove" run_section Remove
  check "ibpod-sm has ended" no_process ibpod-sm
  check "the agent has ended" no_process ibpod-agent
  check "OpenSM runs on" same_opensm
  check "the state stays" is_kept /var/lib/ibpod-sm/promises.db
  check "the partitions of OpenSM stay" is_kept /var/lib/ibpod-sm/opensm/partitions.conf
  check "the configuration stays" is_kept /etc/ibpod/agent.json
  check "the programs are gone" is_gone /usr/sbin/ibpod-sm
  check "no purge under an OpenSM that runs" purge_is_refused ibpod-sm "*OpenSM (process *) uses /var/lib/ibpod-sm*"
  check "its files are still there" is_kept /var/lib/ibpod-sm/opensm/partitions.conf
  kill "$opensm"
  within 30 no_process opensm
  check "purge" apt_of_root purge ibpod-sm ibpodctl
  check "the state is gone" is_gone /var/lib/ibpod-sm
  check "what the administrator has written stays" is_kept /etc/ibpod/sm.json
  mkdir -p "$attachments"
  echo "{\"bootID\": \"$boot\"}" >"$attachments/x:net1.json"
  check "no purge with an attached device" purge_is_refused ibpod-agent "*are attached to containers*"
  echo '{"bootID": "another"}' >"$attachments/x:net1.json"
  check "purge of the agent" apt_of_root purge ibpod-agent
  check "its configuration is gone" is_gone /etc/ibpod/agent.json
  rm "$tree/etc/ibpod/sm.json"
  check "purge of Debian's opensm" apt_of_root purge opensm
  inside systemctl unmask opensm
  rmdir "$tree/etc/ibpod"
  check "nothing is left" nothing_is_left
}

install_packages packages
check_built
VERSION=$later "$root/packages/build.sh" "$work/later"
step "clean Debian 12" make_empty_root
start_root
step "dependencies of the packages" add_dependencies
check_installed
check_upgrade
check_removal
end_checks
