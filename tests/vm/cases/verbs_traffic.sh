#!/bin/bash
# Verbs programs of two pods talk over RC, UC, UD and the connection manager in one partition, and not across partitions.
# kernels: 6.1 7
. "$ROOT/tests/vm/lib.sh"

declare -A vf=([p1]=$(vf_pci 0 1) [p2]=$(vf_pci 1 1))
guids=(02:00:00:00:00:00:01:01 02:00:00:00:00:00:02:01)
set_static_guid 0 1 "${guids[0]}"
set_static_guid 1 1 "${guids[1]}"
partition blue "0x0001, indx0" "${guids[0]}=full" "${guids[1]}=full"

# eth0 is the cluster's own network, over which the programs tell each other their addresses.
for pod in p1 p2; do new_pod "$pod"; done
ip link add eth0 netns p1 type veth peer name eth0 netns p2
for pod in p1 p2; do
  ip -n "$pod" address add "192.168.7.${pod#p}/24" dev eth0
  ip -n "$pod" link set eth0 up
  wait_for 10 has_pkey host "${vf[$pod]}" 0x8001
  conf "${vf[$pod]}" ".cniVersion = \"1.0.0\" | .rdmaIsolation = true | .pkey = \"0x8001\" |
    .ipam = {type: \"static\", addresses: [{address: \"10.8.0.${pod#p}/24\"}]}"
  cp "$WORK/conf" "$WORK/$pod"
  add "$pod"
done

listens() { [ -n "$(ip netns exec p1 ss -Hltn "sport 18515")" ]; }         # ibv_*_pingpong
listens_rdma() { ip netns exec p1 rdma resource show cm_id | grep -q LISTEN; } # rping

serve() { # READY COMMAND...: in p1, beside the case; its process is $server
  timeout 60 ip netns exec p1 "${@:2}" >"$WORK/server" 2>&1 &
  server=$!
  wait_for 20 "$1"
}
served() { wait "$server" || { cat "$WORK/server"; fail "the server: exit $?"; }; }

for transport in rc uc ud; do
  say "$transport"
  serve listens "ibv_${transport}_pingpong" --iters 200
  timeout 60 ip netns exec p2 "ibv_${transport}_pingpong" --iters 200 192.168.7.1
  served
done

say "the connection manager, over the addresses that ADD gave"
serve listens_rdma rping -s -a 10.8.0.1 -C 10
timeout 60 ip netns exec p2 rping -c -a 10.8.0.1 -C 10
served

say "p2 is moved to another partition"
partition blue "0x0001, indx0" "${guids[0]}=full"
partition red "0x0002, indx0" "${guids[1]}=full"
wait_for 10 has_pkey p2 "${vf[p2]}" 0x8002
wait_for 10 lacks_pkey p2 "${vf[p2]}" 0x8001
serve listens ibv_rc_pingpong --iters 200
expect_refused "*transport retry counter exceeded*" timeout 60 ip netns exec p2 ibv_rc_pingpong --iters 200 192.168.7.1
kill "$server"
wait "$server" 2>/dev/null || true

for pod in p1 p2; do
  cp "$WORK/$pod" "$WORK/conf"
  del "$pod"
done
