# Checks against a real API server on this machine, in a network namespace of their own. Sourced, after tools.sh, build.sh and
# api_server.sh; $root is the repository.
# shellcheck shell=bash disable=SC2154
passed=0 failed=0 skipped=0

# Builds what the script needs and starts it again, so that every process that it starts ends with it.
isolate() { # BUILD-COMMAND...
  if [ -n "${ISOLATED:-}" ]; then return; fi
  mkdir -p "$cluster"
  install_packages cluster
  (choose_go; for command; do "$command"; done)
  ISOLATED=1 exec unshare --net --pid --fork --kill-child --mount-proc "$0"
}

start_judge() { # [OPTION-OF-THE-API-SERVER...] sets $work, PATH and KUBECONFIG
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  export PATH=$cluster_path:$PATH
  ip link set lo up
  ip address add 192.0.2.1/32 dev lo # it takes no address of a loopback
  start_api_server "$work" 192.0.2.1 --disable-admission-plugins ServiceAccount "$@"
}

check() { # WHAT COMMAND...
  if "${@:2}" >"$work/said" 2>&1; then
    passed=$((passed + 1))
    echo "  ok    $1"
  else
    failed=$((failed + 1))
    echo "  FAIL  $1"
    sed 's/^/          | /' "$work/said"
  fi
}

skip() { # WHAT WHY
  skipped=$((skipped + 1))
  echo "  skip  $1: $2"
}

expect() { # WHAT-IT-IS GLOB
  # shellcheck disable=SC2053
  [[ $1 == $2 ]] || { echo "$1"; return 1; }
}

refused() { # GLOB COMMAND...
  local said
  if said=$("${@:2}" 2>&1); then
    echo "it was accepted"
    return 1
  fi
  expect "$said" "$1"
}

apply() { kubectl apply --server-side --validate=strict --filename "$1" "${@:2}"; } # FILE [OPTION...]
judged() { apply "$1" --dry-run=server; } # FILE

end_checks() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ]
}
