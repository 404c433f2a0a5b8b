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
// How RDMA devices relate to network namespaces: each in one, or all in all.
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

// The devices that the socket's namespace sees. While some go, others can be missing.
Result<std::vector<RdmaDevice>> rdma_devices(Socket& socket);
Result<std::optional<RdmaDevice>> find_rdma_device(Socket& socket, const std::string& name);
Result<RdmaNetnsMode> rdma_netns_mode(Socket& socket);
// Refused with EBUSY while another network namespace exists
// (docs/kernel-notes.md#the-namespace-mode-and-ebusy).
Status set_rdma_netns_mode(Socket& socket, RdmaNetnsMode mode);
Status rename_rdma_device(Socket& socket, RdmaIndex device, const std::string& name);
// Gives the device to another namespace. All its users (verbs contexts, IPoIB netdevs) are removed
// and made anew. The calling *thread* must be in the device's namespace now: the kernel looks at
// current->nsproxy, not at the socket (docs/kernel-notes.md#rdma-moves-look-at-the-thread).
Status move_rdma_device(Socket& socket, RdmaIndex device, const Fd& netns);

// A queue pair that something in the kernel has made.
struct KernelQueuePair {
  uint32_t number = 0;
  std::string owner;  // the module: "ib_ipoib", "ib_core"
  bool operator==(const KernelQueuePair&) const = default;
};
// Of one message of the device's list.
Result<std::vector<KernelQueuePair>> parse_kernel_queue_pairs(Bytes payload);
// Those of a device, whatever network namespace their owner uses them in. Drivers that make queue
// pairs past the RDMA core (mlx5 for its enhanced IPoIB) are not listed, and in a PID namespace
// that is not the first one none is.
Result<std::vector<KernelQueuePair>> kernel_queue_pairs(Socket& socket, RdmaIndex device);

}  // namespace ibpod::nl
