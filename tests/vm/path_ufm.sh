# The outages of path_faults.sh with UFM (a stand-in) as the subnet manager, and the outage of UFM itself. Sourced.
# shellcheck shell=bash disable=SC2016,SC2034,SC2154
. "$ROOT/tests/vm/path_faults.sh"
. "$ROOT/tests/vm/ufm.sh"

begin_service() { # FILTER
  make_certificates "$service"
  start_ufm
  serve_with_ufm ".listen.address = \"$service:7473\" | $1" "${guids[@]}"
  create_partitions
}
