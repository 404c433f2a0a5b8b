#include "lib/nl/notifications.h"

#include "lib/nl/message.h"
#include "tests/support/recorded.h"

#include <algorithm>
#include <cstring>

#include <doctest/doctest.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>

namespace ibpod::nl {
namespace {

using Names = std::set<std::string>;

Bytes bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

TEST_CASE("a uevent tells its device's path") {
  const std::string event("add@/devices/pci0000:3a/0000:3b:00.2/net/ib0\0ACTION=add\0", 57);
  CHECK(parse_uevent(bytes_of(event)) == "/devices/pci0000:3a/0000:3b:00.2/net/ib0");
}

TEST_CASE("what is no uevent tells nothing") {
  for (const std::string& event : {std::string(), std::string("add@/devices/x"),
                                   std::string("libudev\0\0", 9), std::string("add@x\0", 6)}) {
    CAPTURE(event);
    CHECK(!parse_uevent(bytes_of(event)));
  }
}

// As the kernel announces it: the recorded payload after a header.
std::vector<std::byte> announced(uint16_t type, const std::vector<std::byte>& payload) {
  nlmsghdr header{};
  header.nlmsg_type = type;
  header.nlmsg_len = static_cast<uint32_t>(NLMSG_LENGTH(payload.size()));
  std::vector<std::byte> message(NLMSG_ALIGN(header.nlmsg_len));
  std::memcpy(message.data(), &header, sizeof header);
  std::copy(payload.begin(), payload.end(), message.begin() + NLMSG_HDRLEN);
  return message;
}

TEST_CASE("links that come, change and go are told by their names, addresses by none") {
  Names names;
  std::vector<std::byte> datagram = announced(RTM_NEWLINK, recorded("link-ipoib-child"));
  const std::vector<std::byte> second = announced(RTM_DELLINK, recorded("link-veth"));
  datagram.insert(datagram.end(), second.begin(), second.end());
  CHECK(parse_link_notification(datagram, names));
  CHECK(names.size() == 2);
  CHECK(parse_link_notification(announced(RTM_NEWADDR, recorded("address-v4")), names));
  CHECK(names.size() == 2);
}

TEST_CASE("an RDMA device is told by its name") {
  Names names;
  CHECK(parse_rdma_notification(announced(0x1401, recorded("rdma-device")), names));
  CHECK(names == Names{"softhca_0"});
}

TEST_CASE("what is cut or names nothing is said to be unknown") {
  Names names;
  const std::vector<std::byte> link = announced(RTM_NEWLINK, recorded("link-veth"));
  CHECK(!parse_link_notification(Bytes(link).first(link.size() - 8), names));
  CHECK(!parse_link_notification(Bytes(link).first(8), names));
  CHECK(!parse_link_notification(announced(RTM_NEWLINK, {}), names));
  CHECK(!parse_rdma_notification(announced(0x1401, {}), names));
}

}  // namespace
}  // namespace ibpod::nl
