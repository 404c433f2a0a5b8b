// AgentClient: one call's client of the node's agent.
#pragma once

#include "lib/attach/agent_required_file.h"
#include "lib/attach/keys.h"
#include "lib/base/clock.h"
#include "lib/base/result.h"
#include "lib/ib/pci_address.h"
#include "lib/nodeapi/node.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace ibpod::attach {

struct Context;

// Opens a client of the node's agent at `socket`.
using Connect = std::function<std::unique_ptr<nodeapi::Node>(const Path& socket)>;
// Deadline of one question to the agent, which answers at once, from its last snapshot.
constexpr Duration kAgentTimeout{5'000};

class AgentClient {
 public:
  // `settings` has to outlive it.
  AgentClient(AgentRequiredFile required_file, const Settings& settings, Connect connect)
      : required_file_(std::move(required_file)),
        settings_(settings),
        connect_(std::move(connect)) {}

  // True if nothing may be attached without the agent: the node's file requires it, or the network
  // names it.
  bool is_required() const;
  // True if networks without a partition are refused.
  Result<bool> needs_partition() const { return required_file_.needs_partition(); }
  // Connects to the socket in the node's file, else to that in the settings, else to the default
  // one.
  std::unique_ptr<nodeapi::Node> connect() const;
  // True if the agent binds; false if no agent is required. invalid if the settings name another
  // agent or folder of records than the node's file. unavailable (11), with the remedy, if the
  // agent does not answer. Asks once.
  Result<bool> ask(Deadline deadline) const;

 private:
  AgentRequiredFile required_file_;
  const Settings& settings_;
  Connect connect_;
};

// ask() for an ADD, which waits for an agent that restarts.
Result<bool> await_agent(const Context& context, Deadline deadline);

// Tenants write networks, and a network can name any device of the node: only the kubelet's
// allocation shows which device the pod may have.
inline constexpr std::string_view kDeviceAdvice =
    "request the device's resource in the pod's spec and leave deviceID to Multus, or set "
    "\"devices\": \"any\"";

// denied if the kubelet has not given `device` to the pod; the error has `key` and `advice`. ok if
// there is nothing to compare with: the node allows any device (node_config.h), has no kubelet, or
// does not require an agent and none listens. Other failures are the agent's errors.
Status check_allocated(const Context& context, const std::string& key, const ib::PciAddress& device,
                       const std::string& advice, Deadline deadline);

}  // namespace ibpod::attach
