#!/bin/bash
# Each finding of `ibpodctl doctor` that this kernel can show: planted, named, gone when what it prints is typed into a shell.
# deadline: 600
# lane: doctor
. "$ROOT/tests/vm/agent.sh"

vf=$(vf_pci 0 0) pf=$(pf_netdev 0)
agent_at=$WORK/agent.sock kubelet=$WORK/kubelet bin=$WORK/bin

# The node's parts beside its kernel: sockets, plugins, a container runtime.
mkdir -p "$kubelet"/{device-plugins,pod-resources} "$bin"
touch "$kubelet"/{device-plugins,pod-resources}/kubelet.sock
install -m 0755 "$IBPOD_BIN"/{ib-sriov,ipoib} "$bin"
# Its name is what counts. 64 MiB is enough.
start_runtime() { # BYTES
  cp "$(command -v sleep)" "$WORK/containerd"
  (ulimit -l "$(($1 / 1024))"; exec "$WORK/containerd" 100000) &
  runtime=$!
}
end_runtime() { kill "$runtime"; wait "$runtime" || true; }
start_runtime $((64 << 20))
at_end end_runtime

doctor() { ctl --json doctor --kubelet-root "$kubelet" --cni-bin "$bin" || true; }
# Findings of checks that begin so, with this in the text.
found() { doctor | jq -c --arg check "$1" --arg text "$2" '.[] | select(.grade != "ok" and (.check | startswith($check)) and (.text | contains($text)))'; }
finds() { [ -n "$(found "$@")" ]; }      # CHECK TEXT
is_content() { ! finds "$@"; }           # CHECK TEXT
remedy() { found "$1" "$2" | jq -r .remedy | head -1; } # CHECK TEXT

# Planted already: it is named with a remedy that has PART in it, and gone when COMMANDS, out of what is printed, have run.
mend() { # CHECK TEXT PART SED-EXPRESSION: makes the printed remedy a command
  local printed
  wait_for 20 finds "$1" "$2"
  printed=$(remedy "$1" "$2")
  expect_match "the remedy of $1: $2" "$printed" "*$3*"
  say "$1: $2: $(sed -E "$4" <<<"$printed")"
  bash -ec "$(sed -E "$4" <<<"$printed")"
  wait_for 20 is_content "$1" "$2"
}
first='s/;.*//'                 # the first of several commands
last='s/.*otherwise: //'        # what is to be done if the agent does not do it

say "a node of which nothing is wrong but VFs without GUIDs"
agent_conf .
start_agent
expect_eq "other findings" "$(doctor | jq -r '.[] | select(.grade != "ok" and (.text | contains("GUID") or contains("policy") | not)) | "\(.check): \(.text)"')" ""

say "modules"
modprobe -r rdma_ucm
mend "module rdma_ucm" "not loaded" "modprobe rdma_ucm" "$first"

say "the RDMA namespace mode"
rdma_mode shared
mend rdma-netns-mode "shared: every pod" "rdma system set netns exclusive" "s/.*\`(.*)\`.*/\\1/"

say "a VF without driver, without GUID, kept down"
echo "$vf" >/sys/bus/pci/drivers/softhca/unbind
mend "$vf" "no driver" "drivers_probe" "$last"
at_end clear_guid 0 0
mend "$vf" "has no GUID" "ip link set $pf vf 0 node_guid" "$last; s/GUID/02:00:00:00:00:00:0a:00/g"
set_policy 0 0 disable
mend "$vf" "link policy is disable" "ip link set $pf vf 0 state auto" "$last"

say "what pods may lock"
end_runtime
start_runtime $((8 << 20))
wait_for 10 finds memlock "8192 KiB"
expect_match "the remedy" "$(remedy memlock "8192 KiB")" "set LimitMEMLOCK=infinity*"
end_runtime
(ulimit -l unlimited; exec "$WORK/containerd" 100000) &
runtime=$!
wait_for 10 is_content memlock "8192 KiB"

say "neighbours"
rm "$kubelet/pod-resources/kubelet.sock"
wait_for 10 finds "$kubelet/pod-resources/kubelet.sock" "the socket does not exist"
touch "$kubelet/pod-resources/kubelet.sock" # its owner runs again
wait_for 10 is_content "$kubelet/pod-resources/kubelet.sock" "the socket does not exist"
chmod -x "$bin/ipoib"
wait_for 10 finds "$bin/ipoib" "not executable"
install -m 0755 "$IBPOD_BIN/ipoib" "$bin" # as the init container does
wait_for 10 is_content "$bin/ipoib" "not executable"

say "the agent"
end_agent KILL
wait_for 10 finds agent "$agent_at"
expect_match "the remedy" "$(remedy agent "$agent_at")" "*DaemonSet's pod runs*"
start_agent
wait_for 10 is_content agent "$agent_at"

say "preparation: of now, when doctor is run"
agent_conf '.pfs = [{rootDevices: ["0000:ff:00.0"], numVfs: 1}]'
wait_for 20 finds preparation "pfs[0]: it selects no PF of this node"
expect_match "its time" "$(found preparation "pfs[0]" | jq -r .text)" "*seen at ??:??:?? UTC*"
agent_conf .
wait_for 5 is_content preparation "pfs[0]"

say "a namespace mode that was changed by hand, and a restart of the agent"
agent_conf '.rdmaNetns = "exclusive"'
rdma_mode shared
wait_for 5 finds rdma-netns-mode "shared, but rdmaNetns is exclusive"
expect_match "the remedy" "$(remedy rdma-netns-mode "shared, but")" "*restart the agent while the node has no pods*"
end_agent TERM
start_agent
wait_for 5 is_content rdma-netns-mode shared
