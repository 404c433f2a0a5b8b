# How the time of a call was spent: the steps in a plugin's log, and the lines of ibpod-sm about the binding. Both logs need
# the level "debug". Sourced.
# shellcheck shell=bash

# Lines "START TOOK STEP" in the order in which the steps ended, and "AT - EVENT"; tabs between them. Moments are microseconds of
# the clock, and since the call.
steps_of() { # PLUGIN-LOG SM-LOG CONTAINER BEGAN ENDED
  jq -r --argjson began "$4" --argjson ended "$5" --arg container "$3" '
    # A line has its milliseconds cut off.
    (((.time[0:19] + "Z" | fromdate) * 1000 + (.time[20:23] | tonumber)) * 1000 + 500 - $began) as $now |
    select($now >= 0 and $now <= $ended - $began + 500) |
    if .us and .result then [$now - .us, .us, .msg]
    elif .container == $container and .state then [$now, "", .msg]
    else empty end | @tsv' "$1" "$2"
}

time_line() { # the same
  steps_of "$@" | awk -v whole="$(($5 - $4))" -f "$ROOT/tests/vm/time_line.awk" -f "$ROOT/tests/vm/steps.awk"
}
