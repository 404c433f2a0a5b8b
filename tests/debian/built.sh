# Checks of the Debian packages as they are built. Sourced by the lane packages; $made has them, $work is a folder for a while.
# shellcheck shell=bash disable=SC2034,SC2154

names=(ibpod-sm ibpod-agent ibpodctl)
pages=(ibpod-sm.8 ibpod-agent.8 ibpodctl.1 ib-sriov.8 ipoib.8)

file_of() { echo "$made/${1}_$version"_*.deb; } # PACKAGE

same_again() {
  local name
  "$root/packages/build.sh" "$work/again" || return
  for name in "${names[@]}"; do
    sha256sum "$(file_of "$name")" "$work/again/${name}_$version"_*.deb
    cmp "$(file_of "$name")" "$work/again/${name}_$version"_*.deb || return
  done
}

print_sizes() {
  local name
  for name in "${names[@]}"; do
    echo "        $name: $(($(stat -c %s "$(file_of "$name")") / 1024)) KiB, installed" \
      "$(dpkg-deb --field "$(file_of "$name")" Installed-Size) KiB"
  done
}

# --- manual pages ---------------------------------------------------------------------------------------------------------

# The options of a program and of its commands, a line "COMMAND --option" each. The page has --help once.
options_of() { # PROGRAM COMMAND...
  local help commands command
  help=$("$programs/$1" "${@:2}" --help 2>/dev/null)
  mapfile -t commands < <(sed -n '/^Subcommands:$/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' <<<"$help")
  sed -nE "s/^  (-\w,)?(--[a-z0-9-]+).*/$* \2/p" <<<"$help" | awk -v all=$(($# == 1)) 'all || !/ --help$/'
  for command in "${commands[@]}"; do options_of "$@" "$command"; done
}

# The same of a page, which has a heading for each command.
options_of_page() { # PROGRAM FILE
  MANWIDTH=200 man --local-file "$2" | col -b | expand | awk -v name="$1" '
    BEGIN {command = name}
    /^   [^ ]/ && $1 == name {
      command = name
      for (i = 2; $i ~ /^[a-z]/; i++) command = command " " $i
    }
    match($0, /^       (-[a-z], )?--[a-z0-9-]+/) {
      option = substr($0, RSTART, RLENGTH)
      sub(/^.* /, "", option)
      print command " " option
    }'
}

manual_agrees() { # PAGE
  local program=${1%.?} package=${1%.?}
  case $program in ib-sriov | ipoib) package=ibpod-agent ;; esac
  dpkg-deb --fsys-tarfile "$(file_of "$package")" | tar -xO "./usr/share/man/man${1##*.}/$1.gz" >"$work/$1.gz" || return
  lexgrog "$work/$1.gz" || return
  options_of "$program" | sort >"$work/options"
  options_of_page "$program" "$work/$1.gz" | sort >"$work/options.page"
  diff "$work/options" "$work/options.page"
}
