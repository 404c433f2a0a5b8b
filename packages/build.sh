#!/usr/bin/env bash
# Makes the Debian packages ibpod-sm, ibpod-agent and ibpodctl:
#
#   packages/build.sh [FOLDER]     FOLDER (default build/packages) gets NAME_VERSION_ARCHITECTURE.deb
#
# On Debian 12. The same sources, Debian packages and SOURCE_DATE_EPOCH (default: the time of the last commit) give the same
# bytes. VERSION=1.2.3 makes packages of another version; PROGRAMS=FOLDER has programs that are built already.
set -euo pipefail
umask 022
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/tests/tools.sh"
output=$(readlink -m "${1:-$root/build/packages}")
version=${VERSION:-$(project_version)}
built=(ibpod-sm ibpod-agent ibpodctl ib-sriov ipoib)
fix_times

# A source tree for debhelper: the folder debian, and the files that its lists name.
make_tree() {
  local program page
  mkdir -p "$tree"/{bin,man,completions,examples}
  cp -r "$root/packages/debian" "$root/packages/modules-load.d" "$tree/"
  for program in "${built[@]}"; do
    install -m 0755 "$programs/$program" "$tree/bin/"
    page=$(basename -s .h2m "$root/packages/man/$program".?.h2m)
    "$root/packages/manual.sh" "$programs/$program" "$version" >"$tree/man/$page"
  done
  install -m 0755 "$root/images/install.sh" "$tree/"
  install -m 0644 "$root/packages/agent.json" "$root/NOTICE" "$tree/"
  install -m 0644 "$root/packages/ibpodctl.bash-completion" "$tree/completions/ibpodctl"
  # Installed by hand, ibpod-sm is below /usr/local.
  sed 's,/usr/local/,/usr/,' "$root/packages/ibpod-sm.service" >"$tree/debian/ibpod-sm.service"
  cp "$root/packages/ibpod-agent.service" "$tree/debian/"
  # The first configuration of the page is the smallest useful one.
  awk '/^```json$/ {within = 1; next} within && /^```$/ {exit} within' "$root/docs/ibpod-sm.md" >"$tree/examples/sm.json"
  write_changelog >"$tree/debian/changelog"
}

write_changelog() {
  local maintainer
  maintainer=$(sed -n 's/^Maintainer: //p' "$tree/debian/control")
  printf 'ibpod (%s) stable; urgency=medium\n\n  * The packages of version %s.\n\n -- %s  %s\n' \
    "$version" "$version" "$maintainer" "$(date -u --date "@$SOURCE_DATE_EPOCH" -R)"
}

build_packages() {
  (cd "$tree" && dpkg-buildpackage --build=binary --no-sign)
}

say_what_they_are() {
  local file
  mkdir -p "$output"
  cp "$work"/*.deb "$output/"
  for file in "$output"/*_"$version"_*.deb; do
    echo "$file: $(($(stat -c %s "$file") / 1024)) KiB, installed $(dpkg-deb --field "$file" Installed-Size) KiB"
  done
}

install_packages packages
build_programs "${built[@]}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/ibpod-$version
step "manual pages" make_tree
step "Debian packages" build_packages
say_what_they_are
