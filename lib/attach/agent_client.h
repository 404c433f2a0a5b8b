// AgentClient: the node's agent, as one call asks it.
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

// Asks the node's agent behind a socket.
using Connect = std::function<std::unique_ptr<nodeapi::Node>(const Path& socket)>;
// Of one question to the agent, which answers at once, from its last snapshot.
constexpr Duration kAgentTimeout{5'000};

class AgentClient {
 public:
  // `settings` has to outlive it.
  AgentClient(AgentRequiredFile required_file, const Settings& settings, Connect connect)
      : required_file_(std::move(required_file)),
        settings_(settings),
        connect_(std::move(connect)) {}

  // Nothing is attached without it: the node is marked, or the network names it.
  bool is_required() const;
  // Whether it has networks without a partition refused.
  Result<bool> needs_partition() const { return required_file_.needs_partition(); }
  // For one question: at the socket of the mark, else of the settings, else the usual one.
  std::unique_ptr<nodeapi::Node> connect() const;
  // Whether the agent binds: false where there is no mark and the settings name no agent. On a
  // marked node: invalid, where the settings name another agent or other records than the mark.
  // unavailable (11), saying what to do, where the agent does not answer. It is asked once.
  Result<bool> ask(Deadline deadline) const;

 private:
  AgentRequiredFile required_file_;
  const Settings& settings_;
  Connect connect_;
};

// The same for an ADD, which waits for an agent that restarts.
Result<bool> await_agent(const Context& context, Deadline deadline);

// Tenants write networks, and a network can name any device of the node; what the kubelet allocated
// to the pod is the truth.
inline constexpr std::string_view kDeviceAdvice =
    "request the device's resource in the pod's spec and leave deviceID to Multus, or set "
    "\"devices\": \"any\"";

// The node's agent asks the kubelet. denied if the kubelet has not given `device` to the pod; `key`
// names it in the network, `advice` is the remedy, up to the name of the node's file. ok if there
// is nothing to check it against: the node allows any device (node_config.h), runs no kubelet, or
// attaches without an agent and none listens. Any other failure to answer is the agent's error.
Status check_allocated(const Context& context, const std::string& key, const ib::PciAddress& device,
                       const std::string& advice, Deadline deadline);

}  // namespace ibpod::attach
