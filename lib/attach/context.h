// Context: what every verb of an attachment works with: what the runtime asks for, the node that it
// is done on, and the log of the call.
#pragma once

#include "lib/attach/agent_client.h"
#include "lib/attach/call_log.h"
#include "lib/attach/keys.h"
#include "lib/base/clock.h"
#include "lib/cni/request.h"
#include "lib/node/kernel.h"
#include "lib/node/records.h"

#include <chrono>
#include <string>

namespace ibpod::attach {

struct Request {
  std::string plugin;  // "ib-sriov", "ipoib"
  const cni::Call& call;
  const cni::Network& network;
  const Settings& settings;
};

struct Host {
  node::Kernel& kernel;
  const node::Records& records;
  std::string boot_id;  // of this boot
  AgentClient agent;
  // The node's agent has made the folder of records (it does when it starts): one that is missing
  // is no folder without records.
  bool expects_records = false;
  // The agent has answered that it brings ports into partitions. ADD and STATUS ask it.
  bool sm_managed = false;
};

struct Context {
  Request request;
  Host host;
  CallLog& log;
};

// Once the agent has answered.
inline Context with_agent(Context context, bool sm_managed) {
  context.host.sm_managed = sm_managed;
  return context;
}

// Carries out a step and tells the call's log of it.
template <typename Work>
auto timed(const Context& context, const std::string& step, Work work) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  auto result = work();
  context.log.step({step,
                    std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin),
                    result ? nullptr : &result.error(), node::StepKind::outside});
  return result;
}

// Work that undoes what an ADD began, after its own time is over.
inline constexpr Duration kUndoTime{20'000};

}  // namespace ibpod::attach
