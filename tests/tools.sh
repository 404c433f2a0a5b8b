# Helpers of ./check, ./demo and the runners under tests/. Sourced; $root is the repository.
# shellcheck shell=bash disable=SC2154

die() {
  echo "error: $*" >&2
  exit 1
}

# Repeats a command that talks to the network.
retry() { # TIMES COMMAND...
  local times=$1 try
  shift
  for ((try = 1; ; try++)); do
    if "$@"; then return 0; fi
    [ "$try" -lt "$times" ] || return 1
    echo "again ($try of $times failed): $*"
    sleep $((try * 3))
  done
}

# Runs a long command quietly: says what runs, every 15 s where it is, and how long it took. Its output is shown only
# when it fails. The command may be a function.
step() { # WHAT COMMAND...
  local what=$1 log pid started=$SECONDS said=0 status=0
  shift
  log=$(mktemp)
  printf '%s ...\n' "$what"
  (set -euo pipefail; "$@") >"$log" 2>&1 </dev/null &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    sleep .2
    if [ $((SECONDS - started - said)) -ge 15 ]; then
      said=$((SECONDS - started))
      printf '%s ... %d s: %s\n' "$what" "$said" "$(tail -n 1 "$log" | tr '\r' '\n' | tail -n 1 | cut -c1-80)"
    fi
  done
  wait "$pid" || status=$?
  if [ "$status" != 0 ]; then
    tail -n 60 "$log"
    printf '%s: failed (exit %d)\n' "$what" "$status"
  else
    printf '%s: done, %d s\n' "$what" $((SECONDS - started))
  fi
  rm -f "$log"
  return "$status"
}

install_packages() { install_packages_of "$root/tests/packages"; }

# Installs the packages of a list that are missing.
install_packages_of() { # FILE
  local packages missing
  packages=$(sed 's/#.*//' "$1" | xargs)
  # shellcheck disable=SC2086
  missing=$({ dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' $packages 2>/dev/null || true; } |
    awk '$1 == "installed" {print $2}' | sort -u | comm -13 - <(tr ' ' '\n' <<<"$packages" | sort -u) | xargs)
  if [ -z "$missing" ]; then return; fi
  [ "$(id -u)" = 0 ] || die "missing packages (install them, or run as root): $missing"
  echo "missing packages: $missing"
  export DEBIAN_FRONTEND=noninteractive
  if [[ " $missing " == *" opensm "* ]]; then keep_opensm_down; fi
  step "package lists" retry 3 apt-get update
  # shellcheck disable=SC2086
  step "installing packages" retry 3 apt-get install --yes --no-install-recommends $missing
}

# Debian's package starts a subnet manager on every port of the machine, now and at each boot.
keep_opensm_down() {
  if [ ! -d /run/systemd/system ]; then return 0; fi
  systemctl mask opensm || die "before Debian's opensm is installed: its service has to be masked, or not enabled"
  echo "masked: the service of Debian's opensm (systemctl unmask opensm)"
}

# Only unpacks packages, nothing is installed.
unpack_packages() { # FOLDER PACKAGE...
  local folder=$1 package
  shift
  mkdir -p "$folder"
  for package; do
    rm -f "$folder/$package"_*.deb
    (cd "$folder" && retry 3 apt-get -q download "$package")
    dpkg -x "$folder/$package"_*.deb "$folder"
    rm "$folder/$package"_*.deb
  done
}

# Builds a preset of CMakePresets.json; seconds when nothing changed.
build() { # PRESET
  step "building $1" build_preset "$1"
}

build_preset() { (cd "$root" && cmake --preset "$1" && cmake --build --preset "$1"); }
