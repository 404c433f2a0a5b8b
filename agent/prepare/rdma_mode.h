// How RDMA devices relate to network namespaces on this node: what the configuration wants
// (rdmaNetns), what the kernel does, and what follows for pools that promise isolation. In shared
// mode every pod sees every RDMA device, whatever it was given.
#pragma once

#include "lib/node/kernel.h"

#include <optional>
#include <string>
#include <string_view>

namespace ibpod::agent::prepare {

// rdmaNetns: set a mode where the kernel still allows it, or keep the one that is.
enum class RdmaNetns { exclusive, shared, keep };
// invalid, naming what would be right, for any other word than these three.
Result<RdmaNetns> parse_rdma_netns(std::string_view word);

// The present mode, for doctor, metrics and explain.
struct RdmaModeStatus {
  std::optional<nl::RdmaNetnsMode> mode;  // nothing: the kernel has not told it
  bool matches_config = false;
  std::string text;         // one sentence; why it is not as wanted
  std::string remedy = {};  // what to do; empty where it is as wanted
  // Both, for the log.
  std::string with_remedy() const { return remedy.empty() ? text : text + ": " + remedy; }

  bool operator==(const RdmaModeStatus&) const = default;
};

// Compares the present mode with the configured one. `refusal`: why the kernel refused the
// configured mode; nothing if it was not asked to set it.
RdmaModeStatus evaluate(RdmaNetns wanted, nl::RdmaNetnsMode now,
                        const std::optional<Error>& refusal = std::nullopt);

// Sets what is wanted where it is not so already, once: the kernel refuses it as soon as another
// network namespace exists (docs/kernel-notes.md#the-namespace-mode-and-ebusy). Call it at start.
RdmaModeStatus set_rdma_mode(node::Kernel& kernel, RdmaNetns wanted);

// Reads the mode again, by one netlink request, and changes nothing: another process may have set
// the mode. `before` is the last status, which is returned while the mode is the same.
RdmaModeStatus refresh_rdma_mode(node::Kernel& kernel, RdmaNetns wanted,
                                 const RdmaModeStatus& before);

}  // namespace ibpod::agent::prepare
