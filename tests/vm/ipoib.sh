# For the cases about the plugin ipoib: pods on children of the PFs' interfaces. Pods are called pN: their addresses are 10.9.0.N
# and fd09::N.
# shellcheck shell=bash disable=SC2034
. "$ROOT/tests/vm/lib.sh"
plugin=ipoib

declare -A pf_guid=([0]=$(port_guid host "$PF0") [1]=$(port_guid host "$PF1"))

# Both PFs are members of the partition "blue", 0x8001.
blue() {
  partition blue 0x0001 "${pf_guid[0]}=full" "${pf_guid[1]}=full"
  wait_for 10 has_pkey host "$PF0" 0x8001
  wait_for 10 has_pkey host "$PF1" 0x8001
}

child_conf() { # POD PF [FILTER]: its configuration, in $WORK/POD/conf
  local number=${1#p}
  conf_of "$1" "$(pf_pci "$2")" ".cniVersion = \"1.0.0\" | .pkey = \"0x8001\" |
    .ipam = {type: \"static\", addresses: [{address: \"10.9.0.$number/24\"}, {address: \"fd09::$number/64\"}]} | ${3:-.}"
}

attach() { # POD PF [FILTER]
  child_conf "$@"
  cp "$WORK/$1/conf" "$WORK/conf"
  add "$1"
  keep_result
  cp "$WORK/conf" "$WORK/$1/conf"
}

detach() { # POD...
  local pod
  for pod; do
    cp "$WORK/$pod/conf" "$WORK/conf"
    del "$pod"
  done
}

reaches() { ip netns exec "$1" ping -c 1 -w "${PATIENCE:-20}" "$2" >/dev/null; } # POD ADDRESS

expect_unreached() { # POD ADDRESS
  if PATIENCE=3 reaches "$1" "$2"; then fail "$1 reaches $2"; fi
}

# IPoIB interfaces on the host that are children.
children() { ip -d -o link show type ipoib | awk -F'[ :@]+' '/@/ {print $2}'; }
