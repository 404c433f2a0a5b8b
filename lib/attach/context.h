// Context: the input of every verb: the runtime's request, the node, and the call's log.
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
  std::string boot_id;  // the current boot's
  AgentClient agent;
  // The agent makes the folder of records when it starts. If it has, a missing folder is an error,
  // and not an empty one.
  bool expects_records = false;
  // The agent has answered that it brings ports into partitions. Only ADD and STATUS ask.
  bool sm_managed = false;
};

struct Context {
  Request request;
  Host host;
  CallLog& log;
};

// The context after the agent has answered.
inline Context with_agent(Context context, bool sm_managed) {
  context.host.sm_managed = sm_managed;
  return context;
}

// Runs a step and reports it to the call's log.
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

// Time for undoing an ADD after its own deadline.
inline constexpr Duration kUndoTime{20'000};

}  // namespace ibpod::attach
