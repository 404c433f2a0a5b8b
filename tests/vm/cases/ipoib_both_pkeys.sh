#!/bin/bash
# With OpenSM's option allow_both_pkeys no full member of a partition has IPoIB there: it may not join the broadcast group.
# deadline: 300
# lane: opensm
. "$ROOT/tests/vm/lib.sh"

devices=("$(rdma_device host "$PF0")" "$(rdma_device host "$PF1")")
guids=("$(port_guid host "$PF0")" "$(port_guid host "$PF1")")
interfaces=("$(pf_netdev 0)" "$(pf_netdev 1)")
group=ff12:401b:8001::ffff:ffff
printf '%s\n' 'Default=0x7fff, ipoib, indx0 : ALL=limited, ALL_SWITCHES=full, SELF=full;' >"$WORK/conf.default"
cp "$partitions" "$WORK/partitions"
at_end plain_opensm
at_end cp "$WORK/partitions" "$partitions"

with_option() { # TRUE|FALSE
  stop_opensm
  cp "$WORK/conf.default" "$partitions"
  echo "allow_both_pkeys $1" >"$WORK/opensm.conf"
  run_opensm -F "$WORK/opensm.conf"
}

# A child of each PF's interface, in a pod of its own. It asks with the full key, whichever one the port has.
make_children() {
  local i
  for i in 0 1; do
    ip link add link "${interfaces[i]}" name "child$i" type ipoib pkey 0x8001
    ip link set "child$i" netns "p$i"
    ip -n "p$i" address add "10.9.0.$((i + 1))/24" dev "child$i"
    ip -n "p$i" link set "child$i" up
  done
}
delete_children() {
  local i
  for i in 0 1; do ip -n "p$i" link delete "child$i"; done
}

yes_or_no() { if "$@" >/dev/null 2>&1; then echo yes; else echo no; fi; }
joined() { ip netns exec "p$1" timeout "$2" sh -c "until grep -qx 1 /sys/class/net/child$1/carrier; do sleep .1; done"; }
shown() { saquery -C "${devices[$1]}" -g | grep -q "$group"; }
reached() { ip netns exec p0 ping -c 1 -w 4 10.9.0.2; }

observe_children() { # TRUE|FALSE MEMBERSHIP MEMBERSHIP: "OPTION MEMBERSHIPS joined … shown … reached …"
  partition blue 0x0001 "${guids[0]}=$2" "${guids[1]}=$3"
  make_children
  local joined shown
  joined="$(yes_or_no joined 0 10)/$(yes_or_no joined 1 10)"
  shown="$(yes_or_no shown 0)/$(yes_or_no shown 1)"
  echo "$1 $2/$3: joined $joined, shown $shown, reached $(yes_or_no reached)" | tee -a "$WORK/seen"
  echo "  P_Keys: $(pkeys host "$PF0") | $(pkeys host "$PF1")"
  delete_children
}

new_pod p0
new_pod p1
for option in TRUE FALSE; do
  with_option "$option"
  for members in "full full" "full limited" "limited limited" "both limited"; do
    # shellcheck disable=SC2086
    observe_children "$option" $members
  done
done

# Each as "of the first port/of the second". With TRUE a full key is not found by OpenSM, and so the SA keeps its owner out.
diff - "$WORK/seen" <<END || fail "it is not as docs/opensm-notes.md says"
TRUE full/full: joined no/no, shown no/no, reached no
TRUE full/limited: joined no/yes, shown no/yes, reached no
TRUE limited/limited: joined yes/yes, shown yes/yes, reached no
TRUE both/limited: joined yes/yes, shown yes/yes, reached yes
FALSE full/full: joined yes/yes, shown yes/yes, reached yes
FALSE full/limited: joined yes/yes, shown yes/yes, reached yes
FALSE limited/limited: joined yes/yes, shown yes/yes, reached no
FALSE both/limited: joined yes/yes, shown yes/yes, reached yes
END
