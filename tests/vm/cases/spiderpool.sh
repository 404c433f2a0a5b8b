#!/bin/bash
# A network as Spiderpool writes it, with an IPAM plugin that needs to know the pod: it gets CNI_ARGS as the runtime gave them, also
# when the DEL has none.
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
set_static_guid 0 1 02:00:00:00:00:00:01:01
at_end rm -rf /run/spiderpool
new_pod p1
conf "$vf" '.cniVersion = "0.3.1" | .pciBusID = .deviceID | .pkey = "" | .link_state = "enable" | .rdmaIsolation = true |
  .ibKubernetesEnabled = false | .ipam = {type: "spiderpool"}'
remember_node
add p1
expect_match "policy" "$(told 0 1)" "*link-state enable*"
expect_eq "the pod's address" "$(ip -n p1 -o -4 address show net1 | awk '{print $4}')" 10.9.0.1/24
del p1 CNI_ARGS= CNI_NETNS=
expect_eq "what the IPAM plugin has left" "$(ls /run/spiderpool)" calls
expect_unchanged "ADD and DEL"

say "what that plugin says is what the runtime hears"
call ADD p1 CNI_ARGS=
expect_error 105 "ipam spiderpool: CNI_ARGS has no K8S_POD_NAMESPACE*"
expect_unchanged "a refused ADD"
