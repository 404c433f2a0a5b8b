# Programs that two pods run to talk to each other, for the cases about partitions. Pods are called pN: their addresses are
# 192.168.7.N in the cluster's own network and 10.8.0.N on InfiniBand.
# shellcheck shell=bash disable=SC2016,SC2034
. "$ROOT/tests/vm/lib.sh"

declare -A vf    # POD: its VF's PCI address
declare -A guid  # POD: its VF's GUID
declare -A index # POD: the index of the P_Key that its programs ask for; 0 unless set

# The pods' VFs get GUIDs of their own.
number_vfs() { # POD=PF.VF...
  local pod pf number
  for pod; do
    IFS='=.' read -r pod pf number <<<"$pod"
    vf[$pod]=$(vf_pci "$pf" "$number")
    guid[$pod]=02:00:00:00:00:00:0$((pf + 1)):0$number
    set_static_guid "$pf" "$number" "${guid[$pod]}"
  done
}

# The cluster's own network, over which verbs programs tell each other where they are.
connect_pods() { # POD...
  local pod
  new_pod wire
  ip -n wire link add bridge type bridge
  ip -n wire link set bridge up
  for pod; do
    new_pod "$pod"
    ip link add eth0 netns "$pod" type veth peer name "$pod" netns wire
    ip -n wire link set "$pod" master bridge up
    ip -n "$pod" address add "192.168.7.${pod#p}/24" dev eth0
    ip -n "$pod" link set eth0 up
  done
}

attach_pod() { # POD PKEY: with its RDMA device to itself, and an address
  conf "${vf[$1]}" ".cniVersion = \"1.0.0\" | .rdmaIsolation = true | .pkey = \"$2\" |
    .ipam = {type: \"static\", addresses: [{address: \"10.8.0.${1#p}/24\"}]}"
  cp "$WORK/conf" "$WORK/$1"
  add "$1"
}

detach_pods() { # POD...
  local pod
  for pod; do
    cp "$WORK/$pod" "$WORK/conf"
    del "$pod"
  done
}

indexed=(ib_send_lat ib_read_lat ib_write_bw)      # use the P_Key at the index that they are given
first=(ping ibv_rc_pingpong rping)                 # use the one at index 0, as IPoIB does
programs=("${first[@]}" "${indexed[@]}")

command_of() { # PROGRAM POD: the command line of either end
  case $1 in
    ibv_*) echo "$1 --iters 100" ;;
    ib_write_bw) echo "$1 -F -s 4096 -n 100 --pkey_index ${index[$2]:-0}" ;;
    ib_atomic_lat) echo "$1 -F -A FETCH_AND_ADD -n 100 --pkey_index ${index[$2]:-0}" ;;
    ib_*) echo "$1 -F -s 64 -n 100 --pkey_index ${index[$2]:-0}" ;;
    rping) echo "$1 -C 5 -a 10.8.0.1" ;;
  esac
}

serve() { # PROGRAM [OPTION...]: in p1, beside the case; returns when it listens. Its process is $server
  local command
  read -ra command <<<"$(command_of "$1" p1)"
  if [ "$1" = rping ]; then command+=(-s); fi
  timeout 60 ip netns exec p1 "${command[@]}" "${@:2}" >"$WORK/server" 2>&1 &
  server=$!
  if [ "$1" = rping ]; then wait_for 20 listens_cm p1; else wait_for 20 listens_tcp p1; fi
}

stop_server() {
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
}

client() { # PROGRAM POD [OPTION...]: to p1; what it says is in $WORK/client
  local command
  read -ra command <<<"$(command_of "$1" "$2")"
  case $1 in
    ping) command=(ping -c 1 -w "${PATIENCE:-20}" 10.8.0.1) ;; # until one is answered
    rping) command+=(-c) ;;
    *) command+=(192.168.7.1) ;;
  esac
  timeout 60 ip netns exec "$2" "${command[@]}" "${@:3}" >"$WORK/client" 2>&1
}

expect_talk() { # POD PROGRAM...: each reaches p1
  local pod=$1 program begin
  shift
  for program; do
    begin=$(milliseconds)
    if [ "$program" != ping ]; then serve "$program"; fi
    client "$program" "$pod" || { cat "$WORK/client"; fail "$program of $pod does not reach p1"; }
    [ "$program" = ping ] || wait "$server" || { cat "$WORK/server"; fail "$program of p1: exit $?"; }
    echo "$program of $pod reaches p1: $(($(milliseconds) - begin)) ms"
  done
}

expect_silence() { # POD PROGRAM...: none reaches p1, and that for want of an answer
  local pod=$1 program begin
  shift
  for program; do
    begin=$(milliseconds)
    if [ "$program" != ping ]; then serve "$program"; fi
    if PATIENCE=4 client "$program" "$pod"; then fail "$program of $pod reaches p1: $(cat "$WORK/client")"; fi
    expect_match "$program of $pod" "$(cat "$WORK/client")" "$(no_answer "$program")"
    [ "$program" = ping ] || stop_server
    echo "$program of $pod does not reach p1: $(($(milliseconds) - begin)) ms"
  done
}

no_answer() { # PROGRAM: what it says then
  case $1 in
    ping) echo '*100% packet loss*' ;;
    # The neighbour, and the way to it, may be known still.
    rping) echo '*@(RDMA_CM_EVENT_@(ADDR_ERROR|ROUTE_ERROR|UNREACHABLE)|failed status 12)*' ;;
    ibv_*) echo '*transport retry counter exceeded*' ;;
    *) echo '*Failed status 12*' ;; # the same by its number, IBV_WC_RETRY_EXC_ERR
  esac
}
