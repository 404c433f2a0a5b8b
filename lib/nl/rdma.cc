#include "lib/nl/rdma.h"

#include "lib/nl/attributes.h"
#include "lib/nl/socket.h"

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

namespace ibpod::nl {
namespace {

// Two that agree end the search: more are needed only while devices come and go.
constexpr int kMostLists = 50;

Message request(std::string what, int command, uint16_t flags = 0) {
  return Message(std::move(what), static_cast<uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command)),
                 flags);
}

Message about(std::string what, int command, RdmaIndex device) {
  Message message = request(std::move(what), command);
  message.u32(RDMA_NLDEV_ATTR_DEV_INDEX, static_cast<uint32_t>(device));
  return message;
}

std::string words(RdmaIndex device) {
  return "RDMA device " + std::to_string(static_cast<uint32_t>(device));
}

Status read_into(RdmaDevice& device, const Attribute& attribute) {
  switch (attribute.type) {
    case RDMA_NLDEV_ATTR_DEV_INDEX:
      device.index = TRY(value_of<RdmaIndex>(attribute));
      break;
    case RDMA_NLDEV_ATTR_DEV_NAME:
      device.name = text_of(attribute);
      break;
    case RDMA_NLDEV_ATTR_NODE_GUID: {
      const uint64_t guid = TRY(value_of<uint64_t>(attribute));
      device.node_guid = ib::Guid(guid);
      break;
    }
    case RDMA_NLDEV_ATTR_PORT_INDEX:  // the last port where the message is about a device
      device.ports = TRY(value_of<uint32_t>(attribute));
      break;
    default:
      break;
  }
  return ok();
}

// Nothing: a process has made it.
Result<std::optional<KernelQueuePair>> read_queue_pair(Bytes entry) {
  std::optional<uint32_t> number;
  KernelQueuePair pair;
  const auto found = TRY(attributes(entry));
  for (const Attribute& attribute : found) {
    if (attribute.type == RDMA_NLDEV_ATTR_RES_LQPN) number = TRY(value_of<uint32_t>(attribute));
    if (attribute.type == RDMA_NLDEV_ATTR_RES_KERN_NAME) pair.owner = text_of(attribute);
  }
  if (!number) return Error(Code::invalid, "the message has no number of the queue pair");
  pair.number = *number;
  return pair.owner.empty() ? std::optional<KernelQueuePair>() : std::optional(std::move(pair));
}

// Nothing: it is the kernel's, of which the entry says nothing.
Result<std::optional<uint32_t>> read_context_owner(Bytes entry) {
  bool numbered = false;
  uint32_t process = 0;
  const auto found = TRY(attributes(entry));
  for (const Attribute& attribute : found) {
    if (attribute.type == RDMA_NLDEV_ATTR_RES_CTXN) numbered = true;
    if (attribute.type == RDMA_NLDEV_ATTR_RES_PID) process = TRY(value_of<uint32_t>(attribute));
  }
  return numbered ? std::optional(process) : std::nullopt;
}

Message list_request(const char* resources, int command, RdmaIndex device) {
  Message message =
      request("list the " + std::string(resources) + " of " + words(device), command, NLM_F_DUMP);
  message.u32(RDMA_NLDEV_ATTR_DEV_INDEX, static_cast<uint32_t>(device));
  return message;
}

// The entries of the tables of this type in a message, each read by `read`, which answers nothing
// for one that is left out.
template <typename T>
Result<std::vector<T>> read_table(Bytes payload, int type,
                                  Result<std::optional<T>> (*read)(Bytes)) {
  std::vector<T> all;
  const auto found = TRY(attributes(payload));
  for (const Attribute& table : found) {
    if (table.type != type) continue;
    const auto entries = TRY(attributes(table.value));
    for (const Attribute& entry : entries) {
      std::optional<T> one = TRY(read(entry.value));
      if (one) all.push_back(*std::move(one));
    }
  }
  return all;
}

// The parts of the answer, together.
template <typename T>
Result<std::vector<T>> list(Socket& socket, const Message& message,
                            Result<std::vector<T>> (*parse)(Bytes)) {
  std::vector<T> all;
  const std::vector<std::vector<T>> parts = TRY(dump<std::vector<T>>(socket, message, parse));
  for (const std::vector<T>& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

Result<RdmaDevice> parse_rdma_device(Bytes payload) {
  RdmaDevice device;
  const auto found = TRY(attributes(payload));
  for (const Attribute& attribute : found) TRY(read_into(device, attribute));
  if (device.name.empty()) return Error(Code::invalid, "the message has no RDMA device name");
  return device;
}

Result<RdmaNetnsMode> parse_rdma_system(Bytes payload) {
  const auto found = TRY(attributes(payload));
  for (const Attribute& attribute : found) {
    if (attribute.type != RDMA_NLDEV_SYS_ATTR_NETNS_MODE) continue;
    const uint8_t mode = TRY(value_of<uint8_t>(attribute));
    if (mode <= static_cast<uint8_t>(RdmaNetnsMode::shared)) return RdmaNetnsMode{mode};
    return Error(Code::invalid, "unknown RDMA namespace mode " + std::to_string(mode));
  }
  return Error(Code::invalid, "the message has no RDMA namespace mode");
}

Message encode_set_rdma_netns_mode(RdmaNetnsMode mode) {
  Message message = request("set the RDMA namespace mode", RDMA_NLDEV_CMD_SYS_SET);
  message.u8(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, static_cast<uint8_t>(mode));
  return message;
}

Result<std::vector<RdmaDevice>> rdma_devices(Socket& socket) {
  const Message message = request("list the RDMA devices", RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
  return dump<RdmaDevice>(socket, message, parse_rdma_device);
}

// The kernel finds devices by index only, and its list can leave one out while others go
// (docs/kernel-notes.md#a-list-of-rdma-devices-can-leave-one-out).
Result<std::optional<RdmaDevice>> find_rdma_device(Socket& socket, const std::string& name) {
  std::vector<RdmaDevice> before;
  for (int i = 0; i < kMostLists; ++i) {
    std::vector<RdmaDevice> devices = TRY(rdma_devices(socket));
    for (RdmaDevice& device : devices) {
      if (device.name == name) return std::optional<RdmaDevice>(std::move(device));
    }
    if (i > 0 && devices == before) return std::optional<RdmaDevice>();
    before = std::move(devices);
  }
  return Error(Code::unavailable,
               "look for RDMA device " + name + ": the list of devices keeps changing");
}

Result<RdmaNetnsMode> rdma_netns_mode(Socket& socket) {
  const Message message = request("ask for the RDMA namespace mode", RDMA_NLDEV_CMD_SYS_GET);
  return get_one<RdmaNetnsMode>(socket, message, parse_rdma_system);
}

Status set_rdma_netns_mode(Socket& socket, RdmaNetnsMode mode) {
  return socket.send(encode_set_rdma_netns_mode(mode));
}

Status rename_rdma_device(Socket& socket, RdmaIndex device, const std::string& name) {
  Message message = about("rename " + words(device) + " to " + name, RDMA_NLDEV_CMD_SET, device);
  message.text(RDMA_NLDEV_ATTR_DEV_NAME, name);
  return socket.send(message);
}

Status move_rdma_device(Socket& socket, RdmaIndex device, const Fd& netns) {
  Message message =
      about("move " + words(device) + " to another namespace", RDMA_NLDEV_CMD_SET, device);
  message.u32(RDMA_NLDEV_NET_NS_FD, static_cast<uint32_t>(netns.get()));
  return socket.send(message);
}

Result<std::vector<KernelQueuePair>> parse_kernel_queue_pairs(Bytes payload) {
  return read_table<KernelQueuePair>(payload, RDMA_NLDEV_ATTR_RES_QP, read_queue_pair);
}

Result<std::vector<KernelQueuePair>> kernel_queue_pairs(Socket& socket, RdmaIndex device) {
  return list<KernelQueuePair>(socket,
                               list_request("queue pairs", RDMA_NLDEV_CMD_RES_QP_GET, device),
                               parse_kernel_queue_pairs);
}

Result<std::vector<uint32_t>> parse_context_owners(Bytes payload) {
  return read_table<uint32_t>(payload, RDMA_NLDEV_ATTR_RES_CTX, read_context_owner);
}

Result<std::vector<uint32_t>> context_owners(Socket& socket, RdmaIndex device) {
  return list<uint32_t>(socket, list_request("verbs contexts", RDMA_NLDEV_CMD_RES_CTX_GET, device),
                        parse_context_owners);
}

}  // namespace ibpod::nl
