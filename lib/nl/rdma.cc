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
  std::vector<KernelQueuePair> pairs;
  const auto found = TRY(attributes(payload));
  for (const Attribute& table : found) {
    if (table.type != RDMA_NLDEV_ATTR_RES_QP) continue;
    const auto entries = TRY(attributes(table.value));
    for (const Attribute& entry : entries) {
      std::optional<KernelQueuePair> pair = TRY(read_queue_pair(entry.value));
      if (pair) pairs.push_back(*std::move(pair));
    }
  }
  return pairs;
}

Result<std::vector<KernelQueuePair>> kernel_queue_pairs(Socket& socket, RdmaIndex device) {
  Message message =
      request("list the queue pairs of " + words(device), RDMA_NLDEV_CMD_RES_QP_GET, NLM_F_DUMP);
  message.u32(RDMA_NLDEV_ATTR_DEV_INDEX, static_cast<uint32_t>(device));
  std::vector<KernelQueuePair> all;
  TRY(socket.ask(message, [&](Bytes payload) -> Status {
    const std::vector<KernelQueuePair> some = TRY(parse_kernel_queue_pairs(payload));
    all.insert(all.end(), some.begin(), some.end());
    return ok();
  }));
  return all;
}

}  // namespace ibpod::nl
