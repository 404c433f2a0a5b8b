// RDMA devices over NETLINK_RDMA (RDMA_NL_NLDEV, uapi/rdma/rdma_netlink.h).
#pragma once

#include "lib/ib/guid.h"
#include "lib/nl/message.h"
#include "lib/nl/socket.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::nl {

enum class RdmaIndex : uint32_t {};
// The RDMA subsystem's mode: each device in one network namespace, or all devices in all.
enum class RdmaNetnsMode : uint8_t { exclusive = 0, shared = 1 };

struct RdmaDevice {
  RdmaIndex index{};
  std::string name;
  ib::Guid node_guid;
  uint32_t ports = 0;
  bool operator==(const RdmaDevice&) const = default;
};

Result<RdmaDevice> parse_rdma_device(Bytes payload);
Result<RdmaNetnsMode> parse_rdma_system(Bytes payload);
Message encode_set_rdma_netns_mode(RdmaNetnsMode mode);

// The devices that the socket's namespace sees. If some go meanwhile, others can be missing.
Result<std::vector<RdmaDevice>> rdma_devices(Socket& socket);
Result<std::optional<RdmaDevice>> find_rdma_device(Socket& socket, const std::string& name);
Result<RdmaNetnsMode> rdma_netns_mode(Socket& socket);
// Refused with EBUSY while another network namespace exists
// (docs/kernel-notes.md#the-namespace-mode-and-ebusy).
Status set_rdma_netns_mode(Socket& socket, RdmaNetnsMode mode);
Status rename_rdma_device(Socket& socket, RdmaIndex device, const std::string& name);
// Moves the device to another namespace. All its users (verbs contexts, IPoIB netdevs) are removed
// and created again. The calling *thread* must be in the device's namespace: the kernel looks at
// current->nsproxy, not at the socket (docs/kernel-notes.md#rdma-moves-look-at-the-thread).
Status move_rdma_device(Socket& socket, RdmaIndex device, const Fd& netns);

// A queue pair that a kernel module has created.
struct KernelQueuePair {
  uint32_t number = 0;
  std::string owner;  // the module: "ib_ipoib", "ib_core"
  bool operator==(const KernelQueuePair&) const = default;
};
// Parses one message of the device's list.
Result<std::vector<KernelQueuePair>> parse_kernel_queue_pairs(Bytes payload);
// The kernel's queue pairs of a device, in any network namespace. Without those that drivers create
// past the RDMA core (mlx5 for its enhanced IPoIB); empty in any PID namespace but the first.
Result<std::vector<KernelQueuePair>> kernel_queue_pairs(Socket& socket, RdmaIndex device);

// Parses one message of the list of a device's verbs contexts: the PIDs of the processes that have
// opened them; 0 for one that is ending.
Result<std::vector<uint32_t>> parse_context_owners(Bytes payload);
// The processes that have opened a device, once for each context, in any network namespace; only
// those that the caller's PID namespace has. A kernel before 5.13 refuses the question.
Result<std::vector<uint32_t>> context_owners(Socket& socket, RdmaIndex device);

}  // namespace ibpod::nl
