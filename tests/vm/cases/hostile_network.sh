#!/bin/bash
# What a tenant writes into a network opens, makes, runs and believes nothing on the node: log files, state folders with forged records, FIFOs, device-info files; by every verb of both plugins, on a marked node and on one without a mark.
# deadline: 300
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

# FILTER: a network's key. The call may fail, and nothing of it may have happened.
expect_harmless() { # FILTER
  local verb
  for plugin in ib-sriov ipoib; do
    for verb in ADD CHECK STATUS GC DEL; do
      conf "$vf" "$good | $1"' | ."cni.dev/valid-attachments" = []'
      local begin=$EPOCHSECONDS
      call "$verb" p1 CNI_PATH="$CNI_PATH:$bad"
      if [ "$verb $rc" = "ADD 0" ] && [[ $plugin = ib-sriov || $1 != *DeviceInfo* ]]; then fail "$plugin takes $1"; fi
      [ $((EPOCHSECONDS - begin)) -le 30 ] || fail "$verb of $plugin with $1 has taken $((EPOCHSECONDS - begin)) s"
      [ ! -e "$bad/ran" ] || fail "$verb of $plugin with $1 has run the tenant's program"
    done
  done
  plugin=ib-sriov
  expect_eq "files made" "$(ls -d /etc/ld.so.preload /etc/tenant /etc/cron.d/tenant 2>/dev/null || true)" ""
}

for mark in without with; do
  say "$mark a mark"
  if [ "$mark" = with ]; then
    at_end rm -f /var/lib/ibpod/agent
    echo '{"version": 1, "agentSocket": "/run/ibpod/agent.sock"}' >/var/lib/ibpod/agent
  fi
  expect_harmless '.logFile = "/etc/ld.so.preload" | .[" \($work)/evil.so "] = 1'
  expect_harmless '.logfile = "/etc/tenant"'
  expect_harmless ".logFile = \"$bad/fifo\""
  expect_harmless '.stateDir = "/etc/tenant"'
  expect_harmless ".stateDir = \"$bad/state\""
  expect_harmless '.stateDir = "/proc/self/root/etc"'
  expect_harmless '.agentSocket = "\($work)/agent.sock"'
  expect_harmless '.runtimeConfig.CNIDeviceInfoFile = "/etc/cron.d/tenant"'
  expect_harmless '.runtimeConfig.CNIDeviceInfoFile = "/var/run/k8s.cni.cncf.io/devinfo/cni/../../../../../etc/tenant"'
done
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
