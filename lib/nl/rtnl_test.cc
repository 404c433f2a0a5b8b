#include "lib/nl/rtnl.h"

#include "lib/nl/attributes.h"
#include "tests/support/recorded.h"

#include <cstring>

#include <doctest/doctest.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

namespace ibpod::nl {
namespace {

using Recording = std::vector<std::byte>;

// They point into the message.
std::vector<Attribute> attributes_of(Message&& message) = delete;
std::vector<Attribute> attributes_of(const Message& message) {
  const auto found = attributes(message.encoded().subspan(NLMSG_LENGTH(sizeof(ifinfomsg))));
  REQUIRE(found.ok());
  return *found;
}

TEST_CASE("an IPoIB link is read with its addresses and settings") {
  const Link link = parse_link(recorded("link-ipoib-pf-4-vfs")).value();
  CHECK(link.name == "ib0");
  CHECK(link.index == IfIndex{2});
  CHECK(link.type == ARPHRD_INFINIBAND);
  CHECK(link.up);
  CHECK(link.carrier);
  CHECK(link.mtu == 2044);
  CHECK(text(link.address) == "80:00:00:04:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:01:00");
  CHECK(text(link.broadcast) == "00:ff:ff:ff:ff:12:40:1b:ff:ff:00:00:00:00:00:00:ff:ff:ff:ff");
  CHECK(guid_of(link.address) == ib::Guid(0x0002c90300000100));
  CHECK(!link.parent);
  CHECK(link.altnames.empty());
  CHECK(link.kind == "ipoib");
  CHECK(link.ipoib == Ipoib{ib::PKey(0xffff), IpoibMode::datagram, false});
}

TEST_CASE("a link that is down has no carrier; its alternative names are read") {
  const Link link = parse_link(recorded("link-ipoib-altnames")).value();
  CHECK(link.name == "ib4");
  CHECK(!link.up);
  CHECK(!link.carrier);
  CHECK(link.altnames == std::vector<std::string>{"nice0", "a-rather-long-alternative-name"});
}

TEST_CASE("an IPoIB child has a parent and a P_Key of its own") {
  const Link link = parse_link(recorded("link-ipoib-child")).value();
  const Link parent = parse_link(recorded("link-ipoib-altnames")).value();
  CHECK(link.name == "ib4.8001");
  CHECK(link.parent == parent.index);
  REQUIRE(link.ipoib);
  CHECK(link.ipoib->pkey == ib::PKey(0x8001));
}

TEST_CASE("an IPoIB child is its parent's by the index and the port GUID") {
  const Link child = parse_link(recorded("link-ipoib-child")).value();
  Link parent = parse_link(recorded("link-ipoib-altnames")).value();
  CHECK(is_ipoib_child(child, parent));
  CHECK(!is_ipoib_child(parent, child));
  CHECK(!is_ipoib_child(parent, parent));
  Link other = child;
  other.kind = "vlan";
  CHECK(!is_ipoib_child(other, parent));
  // The child of another parent, which has this index in another namespace.
  parent.address.back() ^= 1;
  CHECK(!is_ipoib_child(child, parent));
  parent.address = child.address;
  parent.address.at(3) ^= 1;  // each has a queue pair of its own
  CHECK(is_ipoib_child(child, parent));
  parent.index = IfIndex{4242};
  CHECK(!is_ipoib_child(child, parent));
  other = child;
  other.address.clear();
  parent = parse_link(recorded("link-ipoib-altnames")).value();
  parent.address.clear();
  CHECK(!is_ipoib_child(other, parent));
}

TEST_CASE("a link of another kind has no IPoIB settings") {
  const Link link = parse_link(recorded("link-veth")).value();
  CHECK(link.name == "v0");
  CHECK(link.kind == "veth");
  CHECK(!link.ipoib);
  CHECK(link.address.size() == 6);
  CHECK(!guid_of(link.address));
}

TEST_CASE("the VFs of a PF are read with what the driver was told") {
  const auto all = parse_vf_settings(recorded("link-ipoib-pf-4-vfs")).value();
  REQUIRE(all.size() == 4);
  CHECK(all[1] == VfSettings{VfIndex{1}, ib::Guid(0x0011223344557701), ib::Guid(0x0011223344556601),
                             LinkPolicy::automatic});
  CHECK(all[3].policy == LinkPolicy::enable);
}

TEST_CASE("32 VFs fit one message, and a VF that was told nothing has a GUID of zero") {
  const auto all = parse_vf_settings(recorded("link-ipoib-pf-32-vfs")).value();
  REQUIRE(all.size() == 32);
  for (uint32_t i = 0; i < 32; ++i) CHECK(all[i].vf == VfIndex{i});
  CHECK(all[31].node_guid == ib::Guid(0x0011223344557701));
  CHECK(all[30].node_guid.none());
}

TEST_CASE("a link without VFs has none") {
  CHECK(parse_vf_settings(recorded("link-veth")).value().empty());
}

TEST_CASE("a message may be cut anywhere or say that its parts are longer: it is refused or read") {
  for (const char* name : {"link-ipoib-pf-4-vfs", "link-ipoib-altnames", "link-ipoib-child"}) {
    const Recording whole = recorded(name);
    for (size_t size = 0; size < whole.size(); ++size) {
      const Recording cut(whole.begin(), whole.begin() + static_cast<long>(size));
      const auto link = parse_link(cut);
      if (!link) CHECK(link.error().code() == Code::invalid);
      const auto all = parse_vf_settings(cut);
      if (!all) CHECK(all.error().code() == Code::invalid);
    }
    for (size_t at = 0; at < whole.size(); ++at) {
      Recording garbled = whole;
      garbled[at] = std::byte{0xff};
      (void)parse_link(garbled).ok();
      (void)parse_vf_settings(garbled).ok();
    }
  }
}

TEST_CASE("two GUIDs travel in two nests") {
  const Message message =
      encode_set_vf_guids(IfIndex{7}, VfIndex{3}, ib::Guid(0x0011223344556677), ib::Guid(2));
  CHECK(message.what() == "set the GUIDs of VF 3 of link 7");
  const auto outer = attributes_of(message);
  REQUIRE(outer.size() == 1);
  CHECK(outer[0].type == IFLA_VFINFO_LIST);
  const auto nests = attributes(outer[0].value).value();
  REQUIRE(nests.size() == 2);
  const auto node = attributes(nests[0].value).value();
  const auto port = attributes(nests[1].value).value();
  REQUIRE(node.size() == 1);
  REQUIRE(port.size() == 1);
  CHECK(node[0].type == IFLA_VF_IB_NODE_GUID);
  CHECK(port[0].type == IFLA_VF_IB_PORT_GUID);
  const auto value = value_of<ifla_vf_guid>(node[0]).value();
  CHECK(value.vf == 3);
  CHECK(value.guid == 0x0011223344556677);
  CHECK(value_of<ifla_vf_guid>(port[0])->guid == 2);
}

TEST_CASE("a child is ordered under its index, without a mode") {
  const NewChild child{.index = IfIndex{20'000'000},
                       .name = "ibpod0123456789",
                       .alias = "ibpod0123456789",
                       .pkey = ib::PKey(0x8001),
                       .umcast = true};
  const Message message = encode_create_child(IfIndex{4}, child);
  CHECK(message.what() == "create ibpod0123456789 with the P_Key 0x8001 on link 4");
  const auto outer = attributes_of(message);
  REQUIRE(outer.size() == 3);
  CHECK(outer[0].type == IFLA_IFNAME);
  CHECK(text_of(outer[0]) == child.name);
  CHECK(outer[1].type == IFLA_LINK);
  CHECK(value_of<uint32_t>(outer[1]).value() == 4);
  const auto info = attributes(outer[2].value).value();
  REQUIRE(info.size() == 2);
  CHECK(text_of(info[0]) == "ipoib");
  const auto data = attributes(info[1].value).value();
  REQUIRE(data.size() == 2);
  CHECK(data[0].type == IFLA_IPOIB_PKEY);
  CHECK(value_of<uint16_t>(data[0]).value() == 0x8001);
  CHECK(data[1].type == IFLA_IPOIB_UMCAST);
  CHECK(value_of<uint16_t>(data[1]).value() == 1);
}

TEST_CASE("a move carries the namespace, and the name unless there is none") {
  const Fd fd;
  const Message with_name = encode_move(IfIndex{7}, fd, "net1");
  const Message without = encode_move(IfIndex{7}, fd, "");
  const auto named = attributes_of(with_name);
  REQUIRE(named.size() == 2);
  CHECK(named[0].type == IFLA_NET_NS_FD);
  CHECK(named[1].type == IFLA_IFNAME);
  CHECK(text_of(named[1]) == "net1");
  CHECK(attributes_of(without).size() == 1);
}

TEST_CASE("addresses are read with their link") {
  IfIndex link{};
  const auto v4 = parse_address(recorded("address-v4"), link).value();
  CHECK(v4.prefix.text() == "10.9.0.1/24");
  CHECK(link == IfIndex{10});
  CHECK(!v4.tentative);
  const auto v6 = parse_address(recorded("address-v6"), link).value();
  CHECK(v6.prefix.text() == "fd09::1/64");
  CHECK(!v6.tentative);
  CHECK(!v6.failed);
  const auto local = parse_address(recorded("address-v6-link-local"), link).value();
  CHECK(local.prefix.text() == "fe80::202:c903:0:100/64");
  CHECK(link == IfIndex{2});
}

TEST_CASE("an address may be tentative or failed") {
  Recording message = recorded("address-v6");
  IfIndex link{};
  message.back() = std::byte{0};
  message.at(message.size() - 4) = std::byte{0x40};  // IFA_FLAGS comes last: IFA_F_TENTATIVE
  CHECK(parse_address(message, link)->tentative);
  message.at(message.size() - 4) = std::byte{0x08};  // IFA_F_DADFAILED
  CHECK(parse_address(message, link)->failed);
}

TEST_CASE("an address message may be cut anywhere") {
  const Recording whole = recorded("address-v4");
  for (size_t size = 0; size < whole.size(); ++size) {
    IfIndex link{};
    const Recording cut(whole.begin(), whole.begin() + static_cast<long>(size));
    const auto address = parse_address(cut, link);
    if (!address) CHECK(address.error().code() == Code::invalid);
  }
}

TEST_CASE("a GUID is in addresses of 20 bytes only") {
  HardwareAddress address(20, 0xab);
  CHECK(guid_of(address) == ib::Guid(0xabababababababab));
  address.push_back(0);
  CHECK(!guid_of(address));
  CHECK(!guid_of({}));
  CHECK(text(HardwareAddress{0, 0x1f}) == "00:1f");
  CHECK(text(HardwareAddress{}) == "");
}

}  // namespace
}  // namespace ibpod::nl
