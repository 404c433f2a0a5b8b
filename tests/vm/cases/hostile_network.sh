#!/bin/bash
# Nothing in a tenant's network makes the plugins open, create, run or trust anything on the node: log files, state folders with forged records, FIFOs, device-info files; by every verb of both plugins, on a marked node and on one without a mark.
# deadline: 180 300
# full: attacks
# shellcheck disable=SC2016
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
bad=$WORK/bad
mkdir -m 0777 "$bad"
good='.guid = "02:00:00:00:00:00:aa:01" | .rdmaIsolation = false | .timeoutSeconds = 10'
new_pod p1
printf '#!/bin/sh\ntouch %s/ran\n' "$bad" >"$bad/evil"
chmod +x "$bad/evil"
mkfifo "$bad/fifo"

# A record with an IPAM plugin of the tenant's, as he would write it.
forge() { # FOLDER
  conf "$vf" "$good"
  add p1
  mkdir -p "$1"
  cp -r /var/lib/ibpod/attachments "$1/"
  del p1
  chown -R 65534 "$1"
}
forge "$bad/state"
remember_node

# With $plugin. FILTER: a network's key. The calls may fail, and nothing of it may have happened.
expect_harmless() { # FILTER
  local verb begin file
  conf "$vf" "$good | $1"' | ."cni.dev/valid-attachments" = []'
  for verb in ADD CHECK STATUS GC DEL; do
    begin=$EPOCHSECONDS
    call "$verb" p1 CNI_PATH="$CNI_PATH:$bad"
    if [ "$verb $rc" = "ADD 0" ] && [[ $plugin = ib-sriov || $1 != *DeviceInfo* ]]; then fail "$plugin takes $1"; fi
    [ $((EPOCHSECONDS - begin)) -le 30 ] || fail "$verb of $plugin with $1 has taken $((EPOCHSECONDS - begin)) s"
    for file in "$bad/ran" /etc/ld.so.preload /etc/tenant /etc/cron.d/tenant; do
      [ ! -e "$file" ] || fail "$verb of $plugin with $1 has made $file, or run what makes it"
    done
  done
}

# To be tried by both plugins on both kinds of nodes: the ways to root.
ways_to_root=(
  '.logFile = "/etc/ld.so.preload" | .[" \($work)/evil.so "] = 1'
  ".stateDir = \"$bad/state\""
)
# By one plugin on one kind of node, unless all is to be tried.
others=(
  '.logfile = "/etc/tenant"'
  ".logFile = \"$bad/fifo\""
  '.stateDir = "/etc/tenant"'
  '.stateDir = "/proc/self/root/etc"'
  '.agentSocket = "\($work)/agent.sock"'
  '.runtimeConfig.CNIDeviceInfoFile = "/etc/cron.d/tenant"'
  '.runtimeConfig.CNIDeviceInfoFile = "/var/run/k8s.cni.cncf.io/devinfo/cni/../../../../../etc/tenant"'
)

try_all() { # TURN: 0 to 3, of the pairs of a plugin and a kind of node
  local i
  for i in "${ways_to_root[@]}"; do expect_harmless "$i"; done
  for i in "${!others[@]}"; do
    if [ "$FULL" = 1 ] || [ $(((i + SEED) % 4)) = "$1" ]; then expect_harmless "${others[i]}"; fi
  done
}

say "a node without a mark"
plugin=ib-sriov try_all 0
plugin=ipoib try_all 1
say "a node with a mark"
at_end rm -f /var/lib/ibpod/agent
echo '{"version": 1, "agentSocket": "/run/ibpod/agent.sock"}' >/var/lib/ibpod/agent
plugin=ib-sriov try_all 2
plugin=ipoib try_all 3
rm /var/lib/ibpod/agent
expect_unchanged "all that"

say "a record of another user's in the node's own folder is not obeyed"
conf "$vf" "$good"
add p1
record=$(find /var/lib/ibpod/attachments -name '*.json')
chown 65534 "$record"
call DEL p1
expect_error 103 "*belongs to user 65534*"
chown 0 "$record"
del p1
