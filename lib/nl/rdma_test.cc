#include "lib/nl/rdma.h"

#include "tests/support/recorded.h"

#include <doctest/doctest.h>
#include <rdma/rdma_netlink.h>

namespace ibpod::nl {
namespace {

Bytes payload_of(const Message& message) { return message.encoded().subspan(16); }

TEST_CASE("an RDMA device is read") {
  const auto device = parse_rdma_device(recorded("rdma-device"));
  REQUIRE(device.ok());
  CHECK(*device == RdmaDevice{RdmaIndex{0}, "softhca_0", ib::Guid(0x0002c90300000100), 1});
}

TEST_CASE("the namespace mode is read") {
  CHECK(*parse_rdma_system(recorded("rdma-system")) == RdmaNetnsMode::exclusive);
  Message message("test", 20, 0);
  message.u8(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 1);
  CHECK(*parse_rdma_system(payload_of(message)) == RdmaNetnsMode::shared);
}

TEST_CASE("the order of a namespace mode reads like the answer about it") {
  for (const auto mode : {RdmaNetnsMode::exclusive, RdmaNetnsMode::shared}) {
    const Message message = encode_set_rdma_netns_mode(mode);
    CHECK(*parse_rdma_system(payload_of(message)) == mode);
  }
}

TEST_CASE("an unknown mode is refused") {
  Message message("test", 20, 0);
  message.u8(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 2);
  CHECK(parse_rdma_system(payload_of(message)).error().code() == Code::invalid);
}

TEST_CASE("a message that names no device is refused") {
  CHECK(parse_rdma_device({}).error().code() == Code::invalid);
  CHECK(parse_rdma_system({}).error().code() == Code::invalid);
}

TEST_CASE("messages may be cut anywhere") {
  const std::vector<std::byte> whole = recorded("rdma-device");
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<long>(size));
    const auto device = parse_rdma_device(cut);
    if (!device) CHECK(device.error().code() == Code::invalid);
  }
}

void add_queue_pair(Message& message, std::optional<uint32_t> number, const std::string& owner) {
  message.open(RDMA_NLDEV_ATTR_RES_QP_ENTRY);
  if (number) message.u32(RDMA_NLDEV_ATTR_RES_LQPN, *number);
  if (owner.empty()) message.u32(RDMA_NLDEV_ATTR_RES_PID, 77);
  if (!owner.empty()) message.text(RDMA_NLDEV_ATTR_RES_KERN_NAME, owner);
  message.close();
}

TEST_CASE("of a device's queue pairs those of the kernel are read, with their owners") {
  Message message("test", 20, 0);
  message.u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0).open(RDMA_NLDEV_ATTR_RES_QP);
  add_queue_pair(message, 1, "ib_core");
  add_queue_pair(message, 0x000123, "ib_ipoib");
  add_queue_pair(message, 0x000124, "");
  message.close();
  CHECK(*parse_kernel_queue_pairs(payload_of(message)) ==
        std::vector<KernelQueuePair>{{1, "ib_core"}, {0x123, "ib_ipoib"}});
  CHECK(parse_kernel_queue_pairs({})->empty());
}

TEST_CASE("a queue pair without a number is refused, and so is a list that is cut") {
  Message message("test", 20, 0);
  message.open(RDMA_NLDEV_ATTR_RES_QP);
  add_queue_pair(message, std::nullopt, "ib_ipoib");
  message.close();
  const Bytes whole = payload_of(message);
  CHECK(parse_kernel_queue_pairs(whole).error().code() == Code::invalid);
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto pairs = parse_kernel_queue_pairs(whole.first(size));
    if (!pairs) CHECK(pairs.error().code() == Code::invalid);
  }
}

void add_context(Message& message, std::optional<uint32_t> number, uint32_t process) {
  message.open(RDMA_NLDEV_ATTR_RES_CTX_ENTRY);
  if (number) message.u32(RDMA_NLDEV_ATTR_RES_CTXN, *number);
  if (process != 0) message.u32(RDMA_NLDEV_ATTR_RES_PID, process);
  message.close();
}

TEST_CASE("of a device's verbs contexts those of processes are read, also of one that is ending") {
  Message message("test", 20, 0);
  message.u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0).open(RDMA_NLDEV_ATTR_RES_CTX);
  add_context(message, std::nullopt, 0);  // the kernel's
  add_context(message, 3, 4711);
  add_context(message, 4, 0);
  message.close();
  const Bytes whole = payload_of(message);
  CHECK(*parse_context_owners(whole) == std::vector<uint32_t>{4711, 0});
  CHECK(parse_context_owners({})->empty());
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto owners = parse_context_owners(whole.first(size));
    if (!owners) CHECK(owners.error().code() == Code::invalid);
  }
}

}  // namespace
}  // namespace ibpod::nl
