// What every verb of an attachment works with. main builds it once a call and passes it down.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/files.h"
#include "lib/cni/request.h"
#include "lib/node/kernel.h"
#include "lib/node/record.h"
#include "lib/node/records.h"
#include "lib/node/traced_kernel.h"
#include "lib/nodeapi/node.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::attach {

struct Context {
  node::Kernel& kernel;
  const node::Records& records;
  std::string boot_id;  // of this boot
  std::string plugin;   // "ib-sriov", "ipoib"
  const cni::Call& call;
  const cni::Network& network;
  // The node's agent; a connection for each question.
  std::function<std::unique_ptr<nodeapi::Node>()> agent;
  // Nothing is attached without it: the node is marked (agent_required_file.h), or the network
  // names it.
  bool needs_agent = false;
  // Takes what an operator should know although nothing has failed.
  std::function<void(const std::string&)> warn;
  // Takes what has been achieved.
  std::function<void(const std::string&)> inform;
  // Is told of every step outside the kernel and how long it took; the kernel's own are told by
  // node::trace.
  node::Observer observe;
  bool sm_managed = false;  // the agent has answered that it brings ports into partitions
  // Those that the node allows (node_config.h); nothing: all.
  std::optional<std::vector<std::string>> ipam_types = {};
  // The node lets a network name a device that the kubelet has not allocated to the pod.
  bool any_device = false;
  // The node's agent has made the folder of records (it does when it starts): one that is missing
  // is no folder without records.
  bool expects_records = false;
  std::vector<ib::PciAddress> master_vfs = {};  // those that the node keeps for all (node_config.h)
};

// Carries out a step and tells the context's observer.
template <typename Work>
auto timed(const Context& context, const std::string& step, Work work) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  auto result = work();
  context.observe({step,
                   std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin),
                   result ? nullptr : &result.error(), node::StepKind::outside});
  return result;
}

// Work that undoes what an ADD began, after its own time is over.
inline constexpr Duration kUndoTime{20'000};

}  // namespace ibpod::attach
