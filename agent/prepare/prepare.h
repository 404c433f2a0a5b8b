// prepare_node() gives the configured PFs their VFs, and every VF a GUID before a driver binds it,
// so that none is ever bound without one and no pod has to wait for a second bind (docs/agent.md).
#pragma once

#include "agent/prepare/pf_config.h"
#include "lib/base/clock.h"
#include "lib/node/kernel.h"
#include "lib/node/records.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::agent::prepare {

// The pod that the kubelet has given a device to, of whatever plugin: "team/a"; nothing: none.
using PodOf = std::function<Result<std::optional<std::string>>(const ib::PciAddress& device)>;

// The dependencies of a preparation. All of them outlive the call.
struct PrepareDeps {
  node::Kernel& kernel;
  const node::Records& records;
  Path state;           // where intents are kept, on a disk that outlives the process
  std::string boot_id;  // of this boot
  // The port GUID of a PF's VF, unique in the cluster; nothing: it is derived from the PF's. Called
  // again for the same VF it answers the same.
  std::function<Result<ib::Guid>(const ib::PciAddress& pf, uint32_t vf)> port_guid = {};
  // By a list of the kubelet's pods of the last second. Null: the node has no kubelet.
  PodOf pod_of = {};
  // By a list that is made in the call, for the last look before a change. Null like `pod_of`.
  PodOf pod_of_now = {};
};

struct PrepareResult {
  std::vector<std::string> done;  // "0000:3b:00.0: made 8 VFs"
  // The differences to the configuration and their causes, each with its PF, VF or entry and a
  // remedy. The rest is prepared all the same.
  std::vector<Error> problems;
};

// Looks at what is and does what is missing; where nothing is, it orders nothing. Ended between any
// two steps and called again it comes to the same. What an administrator has set stays unless the
// entry says `force`, and nothing is done to a VF that a record names, that is not at home, or that
// the host uses.
PrepareResult prepare_node(const PrepareDeps& deps, const std::vector<PfConfig>& configs,
                           Deadline deadline);

}  // namespace ibpod::agent::prepare
