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

# The packages of sections of tests/packages, each once.
packages_of() { # SECTION...
  awk -v wanted=" $* " '
    /^\[/ {name = substr($1, 2, length($1) - 2); on = index(wanted, " " name " "); known[name] = 1; next}
    on && NF && $1 !~ /^#/ {print $1}
    END {split(wanted, names, " "); for (i in names) if (!(names[i] in known)) exit 1}' "$root/tests/packages" | sort -u ||
    die "tests/packages has not all of the sections $*"
}

# Installs the packages of these sections that are missing. OpenSM comes with those that use it.
install_packages() { # SECTION...
  local packages missing
  packages=$(packages_of "$@")
  # shellcheck disable=SC2086
  missing=$({ dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' $packages 2>/dev/null || true; } |
    awk '$1 == "installed" {print $2}' | sort -u | comm -13 - <(echo "$packages") | xargs)
  if [ -n "$missing" ]; then
    [ "$(id -u)" = 0 ] || die "missing packages (install them, or run as root): $missing"
    echo "missing packages: $missing"
    export DEBIAN_FRONTEND=noninteractive
    step "package lists" retry 3 apt-get update
    # shellcheck disable=SC2086
    step "installing packages" retry 3 apt-get install --yes --no-install-recommends $missing
  fi
  if [[ " $* " == *" fabric "* || " $* " == *" guest "* ]]; then unpack_opensm; fi
}

# The mirror of Debian that this machine's own apt uses; nothing if it has none.
debian_mirror() { # [ARCHIVE]: debian, debian-security
  find /etc/apt -name 'sources.list' -o -name '*.list' -o -name '*.sources' | sort | xargs cat |
    sed -nE "s!^(URIs:|deb( \\[[^]]*\\])?) +(https?://[^ ]+/${1:-debian}/?)( .*)?\$!\\3!p" | awk 'NR == 1'
}

# Lines for sources.list: Debian 12 from the mirrors of this machine's apt, or what the file $SOURCES has.
debian_sources() {
  local mirror security
  if [ -n "${SOURCES:-}" ]; then cat "$SOURCES"; return; fi
  mirror=$(debian_mirror) security=$(debian_mirror debian-security)
  [[ $mirror && $security ]] || die "apt has no mirror of Debian and of debian-security here: expected SOURCES=FILE"
  printf 'deb %s %s main\n' "$mirror" bookworm "$mirror" bookworm-updates "$security" bookworm-security
}

# For what is made of the committed tree, and has to be the same again.
project_version() { sed -nE 's/^project\(ibpod .*VERSION ([0-9.]+)\)$/\1/p' "$root/CMakeLists.txt"; }
project_git() { git -C "$root" -c safe.directory="$root" "$@"; }
fix_times() { # the times in it are that of the last commit, unless SOURCE_DATE_EPOCH is set
  export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(project_git log -1 --format=%ct)} LC_ALL=C TZ=UTC
}

# The programs of the preset release, or, if PROGRAMS is set, of that folder.
build_programs() { # PROGRAM... sets $programs
  programs=${PROGRAMS:-}
  if [ -n "$programs" ]; then return; fi
  install_packages build
  build release "$@"
  programs=$root/build/release/bin
}

# Debian's package would start a subnet manager on every port of the machine, now and at each boot. It is not installed: what
# it has is unpacked, and found where no OpenSM is installed.
opensm=$root/build/opensm
PATH=$PATH:$opensm/usr/sbin:/usr/lib/llvm-19/bin # there the sanitizers find llvm-symbolizer
unpack_opensm() {
  if [ -e /usr/sbin/opensm ] || [ -e "$opensm/usr/sbin/opensm" ]; then return; fi
  apt-cache show opensm >/dev/null 2>&1 || step "package lists" retry 3 apt-get update
  step "unpacking opensm" unpack_packages "$opensm" opensm
  "$opensm/usr/sbin/opensm" --version || die "OpenSM does not run: which of its libraries is missing in tests/packages?"
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

# Builds targets of a preset of CMakePresets.json, or all of it; seconds when nothing changed.
build() { # PRESET [TARGET...]
  step "building $*" build_preset "$@"
}

build_preset() { # PRESET [TARGET...]
  cd "$root"
  cmake --preset "$1"
  if [ $# = 1 ]; then cmake --build --preset "$1"; else cmake --build --preset "$1" --target "${@:2}"; fi
}
