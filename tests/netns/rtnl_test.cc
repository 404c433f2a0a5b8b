// lib/nl against the running kernel.
#include "lib/nl/rtnl.h"

#include "lib/base/files.h"
#include "lib/base/run_on_thread.h"
#include "tests/netns/host.h"
#include "tests/support/in_time.h"

#include <array>
#include <cstring>
#include <fstream>

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace ibpod::nl {
namespace {

// A pair of links in the tests' namespace, and a second namespace. The kernel takes away both links
// with the one.
struct Host {
  netns::NetNs home = fresh_namespace();
  netns::NetNs pod = fresh_namespace();
  Socket host = Socket::open_in(home.fd(), Family::route).value();
  Socket inside = Socket::open_in(pod.fd(), Family::route).value();
  Host() { add_pair(host); }
  IfIndex index(const std::string& name) { return link_named(host, name).index; }
};

TEST_CASE("a socket speaks to the namespace it was opened in") {
  Host node;
  CHECK(there(node.host, "host0"));
  CHECK(!there(node.inside, "host0"));
  Socket own = Socket::open(Family::route).value();
  CHECK(!there(own, "host0"));
}

TEST_CASE("links are listed and found by name and index") {
  Host node;
  CHECK(links(node.host)->size() >= 3);
  const Link link = link_named(node.host, "host0");
  CHECK(link.kind == "veth");
  CHECK(link.mtu == 1500);
  CHECK(link.parent == node.index("host1"));
  CHECK(find_link(node.host, link.index)->value() == link);
  CHECK(!*find_link(node.host, IfIndex{4242}));
  CHECK(!*find_link(node.host, "nowhere"));
}

TEST_CASE("what no link can be called is refused without asking") {
  Host node;
  for (const std::string name : {"", "sixteen-letters.", "a/b", "a b", "a:b", ".", "..", "net%d"}) {
    CAPTURE(name);
    CHECK(find_link(node.host, name).error().code() == Code::invalid);
    CHECK(rename(node.host, node.index("host0"), name).error().code() == Code::invalid);
  }
  CHECK(move(node.host, node.index("host0"), node.pod.fd(), "net%d").error().code() ==
        Code::invalid);
}

TEST_CASE("a refusal tells the kernel's own words") {
  Host node;
  const Status set = set_mtu(node.host, node.index("host0"), 10);
  REQUIRE(!set);
  CHECK(set.error().error_number() == EINVAL);
  CHECK(set.error().text().starts_with("set the MTU of link "));
  CHECK(set.error().text().ends_with(
      " to 10: kernel: mtu less than device minimum: Invalid argument"));
}

TEST_CASE("an order about a link that has gone is not found") {
  Host node;
  CHECK(set_up(node.host, IfIndex{4242}, true).error().code() == Code::not_found);
  CHECK(vf_settings(node.host, IfIndex{4242}).error().code() == Code::not_found);
}

TEST_CASE("up, MTU and name are set") {
  Host node;
  const IfIndex link = node.index("host0");
  CHECK(set_mtu(node.host, link, 1400).ok());
  CHECK(rename(node.host, link, "other0").ok());
  CHECK(set_up(node.host, link, true).ok());
  CHECK(set_up(node.host, node.index("host1"), true).ok());
  const Link now = link_named(node.host, "other0");
  CHECK(now.index == link);
  CHECK(now.mtu == 1400);
  CHECK(now.up);
  CHECK(now.carrier);
  CHECK(set_up(node.host, link, false).ok());
  CHECK(!link_named(node.host, "other0").up);
}

TEST_CASE("a name that is taken is refused, and the link keeps its own") {
  Host node;
  CHECK(rename(node.host, node.index("host0"), "host1").error().code() == Code::exists);
  CHECK(there(node.host, "host0"));
}

TEST_CASE("alternative names come, are found, and go; going twice is no failure") {
  Host node;
  const IfIndex link = node.index("host0");
  const std::string lengthy = "an-alternative-name-of-more-than-fifteen-letters";
  CHECK(add_altname(node.host, link, "nice0").ok());
  CHECK(add_altname(node.host, link, lengthy).ok());
  CHECK(link_named(node.host, "host0").altnames == std::vector<std::string>{"nice0", lengthy});
  CHECK(link_named(node.host, "nice0").name == "host0");
  CHECK(add_altname(node.host, node.index("host1"), "nice0").error().code() == Code::exists);
  CHECK(remove_altname(node.host, link, "nice0").ok());
  CHECK(remove_altname(node.host, link, "nice0").ok());
  CHECK(remove_altname(node.host, link, lengthy).ok());
  CHECK(link_named(node.host, "host0").altnames.empty());
}

TEST_CASE("a link moves and gets its name there in one message") {
  Host node;
  CHECK(move(node.host, node.index("host0"), node.pod.fd(), "net1").ok());
  CHECK(!there(node.host, "host0"));
  CHECK(there(node.inside, "net1"));
  CHECK(move(node.inside, link_named(node.inside, "net1").index, node.home.fd(), "host0").ok());
  CHECK(there(node.host, "host0"));
}

TEST_CASE("with the name taken there the answer is EEXIST and the link has moved already") {
  Host node;
  REQUIRE(move(node.host, node.index("host1"), node.pod.fd(), "net1").ok());
  const Status moved = move(node.host, node.index("host0"), node.pod.fd(), "net1");
  REQUIRE(!moved);
  CHECK(moved.error().code() == Code::exists);
  CHECK(!there(node.host, "host0"));
  CHECK(there(node.inside, "host0"));
}

TEST_CASE("without a name the link keeps its own, and stays where it was if that is taken there") {
  Host node;
  REQUIRE(move(node.host, node.index("host1"), node.pod.fd(), "host0").ok());
  CHECK(move(node.host, node.index("host0"), node.pod.fd(), "").error().code() == Code::exists);
  CHECK(there(node.host, "host0"));
  REQUIRE(rename(node.host, node.index("host0"), "free0").ok());
  CHECK(move(node.host, node.index("free0"), node.pod.fd(), "").ok());
  CHECK(there(node.inside, "free0"));
}

TEST_CASE("an alternative name that is taken there keeps the link at home") {
  Host node;
  REQUIRE(add_altname(node.host, node.index("host0"), "net1").ok());
  REQUIRE(move(node.host, node.index("host1"), node.pod.fd(), "net1").ok());
  const Status moved = move(node.host, node.index("host0"), node.pod.fd(), "net2");
  CHECK(moved.error().code() == Code::exists);
  CHECK(there(node.host, "host0"));
}

TEST_CASE("a descriptor that is no namespace is refused") {
  Host node;
  CHECK(!move(node.host, node.index("host0"), Fd(), "net1").ok());
  CHECK(there(node.host, "host0"));
}

TEST_CASE("a link is removed; one that has gone is a success") {
  Host node;
  const IfIndex link = node.index("host0");
  CHECK(remove_link(node.host, link).ok());
  CHECK(remove_link(node.host, link).ok());
  CHECK(!there(node.host, "host1"));
}

std::string broadcast_of(const netns::NetNs& netns, const std::string& link) {
  ifreq request{};
  link.copy(request.ifr_name, IFNAMSIZ - 1);
  const Status asked = run_in_netns(netns.fd(), "ask for a broadcast address", [&]() -> Status {
    const Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    CHECK(::ioctl(fd.get(), SIOCGIFBRDADDR, &request) == 0);
    return ok();
  });
  CHECK(asked.ok());
  sockaddr_in name{};
  std::memcpy(&name, &request.ifr_broadaddr, sizeof name);
  std::array<char, INET_ADDRSTRLEN> text{};
  return ::inet_ntop(AF_INET, &name.sin_addr, text.data(), text.size());
}

TEST_CASE("IPv4 addresses are given, with the broadcast address of their network") {
  Host node;
  const IfIndex link = node.index("host0");
  const ip::Prefix address = ip::Prefix::parse("10.1.2.3/24").value();
  CHECK(add_address(node.host, link, address).ok());
  CHECK(broadcast_of(node.home, "host0") == "10.1.2.255");
  CHECK(add_address(node.host, link, address).error().code() == Code::exists);
  CHECK(add_address(node.host, link, ip::Prefix::parse("10.1.9.9/32").value()).ok());
  const auto held = addresses(node.host, link).value();
  REQUIRE(held.size() == 2);
  CHECK(held[0] == LinkAddress{address, false, false});
  CHECK(held[1].prefix.text() == "10.1.9.9/32");
  CHECK(addresses(node.host, node.index("host1"))->empty());
}

TEST_CASE("an IPv6 address is tentative until nobody has objected") {
  Host node;
  const IfIndex link = node.index("host0");
  CHECK(set_up(node.host, link, true).ok());
  CHECK(set_up(node.host, node.index("host1"), true).ok());
  const ip::Prefix address = ip::Prefix::parse("fd05::2/64").value();
  CHECK(add_address(node.host, link, address).ok());
  const auto state = [&] {
    const auto all = addresses(node.host, link).value();
    for (const LinkAddress& held : all) {
      if (held.prefix == address) return held;
    }
    return LinkAddress{};
  };
  CHECK(state().tentative);
  CHECK(in_time([&] { return !state().tentative; }));
  CHECK(state() == LinkAddress{address, false, false});
}

TEST_CASE("an IPv6 address that somebody else has fails") {
  Host node;
  const ip::Prefix address = ip::Prefix::parse("fd05::2/64").value();
  REQUIRE(move(node.host, node.index("host1"), node.pod.fd(), "net1").ok());
  const IfIndex here = node.index("host0");
  const IfIndex other = link_named(node.inside, "net1").index;
  CHECK(set_up(node.host, here, true).ok());
  CHECK(set_up(node.inside, other, true).ok());
  const auto state = [&](Socket& socket, IfIndex link) {
    const auto all = addresses(socket, link).value();
    for (const LinkAddress& held : all) {
      if (held.prefix == address) return held;
    }
    return LinkAddress{{}, true, false};
  };
  CHECK(add_address(node.inside, other, address).ok());
  CHECK(in_time([&] { return !state(node.inside, other).tentative; }));
  CHECK(add_address(node.host, here, address).ok());
  CHECK(in_time([&] { return state(node.host, here).failed; }));
  CHECK(!state(node.inside, other).failed);
}

// The kernel's own list of a namespace's IPv4 routes.
std::string routes(const netns::NetNs& netns) {
  std::string all;
  const Status read = run_in_netns(netns.fd(), "read the routes", [&]() -> Status {
    std::ifstream file("/proc/thread-self/net/route");
    all.assign(std::istreambuf_iterator<char>(file), {});
    return ok();
  });
  CHECK(read.ok());
  return all;
}

// The MTU on the way to an address beyond the default route.
int mtu_to_elsewhere(const netns::NetNs& netns) {
  int mtu = 0;
  const Status asked = run_in_netns(netns.fd(), "ask for the MTU of a route", [&]() -> Status {
    const Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(9);
    to.sin_addr.s_addr = htonl(0x0a630001);
    socklen_t length = sizeof mtu;
    CHECK(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
    CHECK(::getsockopt(fd.get(), IPPROTO_IP, IP_MTU, &mtu, &length) == 0);
    return ok();
  });
  CHECK(asked.ok());
  return mtu;
}

TEST_CASE("routes go by a gateway or by the link") {
  Host node;
  const IfIndex link = node.index("host0");
  REQUIRE(set_up(node.host, link, true).ok());
  REQUIRE(set_up(node.host, node.index("host1"), true).ok());
  REQUIRE(add_address(node.host, link, ip::Prefix::parse("10.1.2.3/24").value()).ok());
  Route by_link;
  by_link.destination = ip::Prefix::parse("10.7.0.0/16").value();
  Route standard;
  standard.destination = ip::Prefix::parse("0.0.0.0/0").value();
  standard.gateway = ip::Address::parse("10.1.2.1").value();
  standard.mtu = 1300;
  standard.advmss = 1200;
  standard.priority = 50;
  CHECK(add_route(node.host, link, by_link).ok());
  CHECK(add_route(node.host, link, by_link).ok());
  CHECK(add_route(node.host, link, standard).ok());
  const std::string all = routes(node.home);
  // The kernel prints 40 above the advertised segment size there.
  CHECK(all.find("host0\t00000000\t0102010A\t0003\t0\t0\t50\t00000000\t1240") != all.npos);
  CHECK(mtu_to_elsewhere(node.home) == 1300);
  CHECK(all.find("host0\t0000070A\t00000000\t0001") != all.npos);
}

TEST_CASE("a route may go into a table of its own, above 255 too") {
  Host node;
  const IfIndex link = node.index("host0");
  REQUIRE(set_up(node.host, link, true).ok());
  Route route;
  route.destination = ip::Prefix::parse("10.7.0.0/16").value();
  route.table = 1001;
  CHECK(add_route(node.host, link, route).ok());
  CHECK(add_route(node.host, link, route).ok());
  CHECK(routes(node.home).find("0000070A") == std::string::npos);
}

TEST_CASE("IPv6 routes are added; one that is there is a success") {
  Host node;
  const IfIndex link = node.index("host0");
  REQUIRE(set_up(node.host, link, true).ok());
  REQUIRE(set_up(node.host, node.index("host1"), true).ok());
  REQUIRE(add_address(node.host, link, ip::Prefix::parse("fd05::2/64").value()).ok());
  Route route;
  route.destination = ip::Prefix::parse("::/0").value();
  route.gateway = ip::Address::parse("fd05::1").value();
  CHECK(add_route(node.host, link, route).ok());
  CHECK(add_route(node.host, link, route).ok());
}

// A namespace as a pod has it: eth0 with a default route, and net1, both with a network of theirs.
struct Pod {
  Host node;
  IfIndex eth0 = node.index("host0");
  IfIndex net1 = node.index("host1");
  Pod() {
    give(eth0, "eth0", "10.1.0.2/24");
    give(net1, "net1", "10.2.0.2/24");
    add_default(eth0, "0.0.0.0/0", "10.1.0.1").value();
  }
  void give(IfIndex link, const std::string& name, const char* address) {
    rename(node.host, link, name).value();
    set_up(node.host, link, true).value();
    add_address(node.host, link, ip::Prefix::parse(address).value()).value();
  }
  Status add_default(IfIndex link, const char* everywhere, const char* gateway) {
    Route route;
    route.destination = ip::Prefix::parse(everywhere).value();
    route.gateway = ip::Address::parse(gateway).value();
    return add_route(node.host, link, route);
  }
};

TEST_CASE("a default route is added beside the one of eth0, and goes first") {
  Pod pod;
  CHECK(pod.add_default(pod.net1, "0.0.0.0/0", "10.2.0.1").ok());
  CHECK(pod.add_default(pod.net1, "0.0.0.0/0", "10.2.0.1").ok());
  const std::string all = routes(pod.node.home);
  const size_t first = all.find("net1\t00000000\t0100020A\t0003");
  const size_t second = all.find("eth0\t00000000\t0100010A\t0003");
  REQUIRE(first != all.npos);
  CHECK(all.find("net1\t00000000", first + 1) == all.npos);
  REQUIRE(second != all.npos);
  CHECK(first < second);
}

TEST_CASE("an IPv6 default route is added beside the one of eth0") {
  Pod pod;
  for (const auto& [link, address] : {std::pair(pod.eth0, "fd01::2/64"), {pod.net1, "fd02::2/64"}})
    REQUIRE(add_address(pod.node.host, link, ip::Prefix::parse(address).value()).ok());
  CHECK(pod.add_default(pod.eth0, "::/0", "fd01::1").ok());
  CHECK(pod.add_default(pod.net1, "::/0", "fd02::1").ok());
  CHECK(pod.add_default(pod.net1, "::/0", "fd02::1").ok());
}

// The namespace's setting of that name below net/ipv6/conf.
Path ipv6_setting(const std::string& link) {
  return Path("/proc/sys/net/ipv6/conf") / link / "disable_ipv6";
}
void disable_ipv6(const netns::NetNs& netns) {
  const Status done = run_in_netns(netns.fd(), "disable IPv6", [] {
    for (const char* which : {"all", "default"}) std::ofstream(ipv6_setting(which)) << "1\n";
    return ok();
  });
  REQUIRE(done.ok());
}
std::string ipv6_disabled(const netns::NetNs& netns, const std::string& link) {
  std::string value;
  const Status read = run_in_netns(netns.fd(), "read a setting", [&] {
    std::ifstream(ipv6_setting(link)) >> value;
    return ok();
  });
  CHECK(read.ok());
  return value;
}

bool enabled_in(const netns::NetNs& netns, const std::string& link) {
  return run_in_netns(netns.fd(), "enable IPv6", [&] { return enable_ipv6(link); }).ok();
}

TEST_CASE("where a namespace has IPv6 disabled it is enabled for a link and lo, and nobody else") {
  Host node;
  disable_ipv6(node.home);
  const IfIndex link = node.index("host0");
  REQUIRE(set_up(node.host, link, true).ok());
  const ip::Prefix address = ip::Prefix::parse("fd05::2/64").value();
  CHECK(add_address(node.host, link, address).error().code() == Code::denied);
  CHECK(enabled_in(node.home, "host0"));
  CHECK(add_address(node.host, link, address).ok());
  CHECK(enabled_in(node.home, "host0"));
  CHECK(ipv6_disabled(node.home, "host0") == "0");
  CHECK(ipv6_disabled(node.home, "lo") == "0");
  CHECK(ipv6_disabled(node.home, "host1") == "1");
  CHECK(ipv6_disabled(node.pod, "lo") == "0");
}

TEST_CASE("IPv6 of a link that is not there is the kernel's to refuse") {
  Host node;
  CHECK(enabled_in(node.pod, "host0"));
}

TEST_CASE("a gateway that cannot be reached or is of another family is refused") {
  Host node;
  const IfIndex link = node.index("host0");
  REQUIRE(set_up(node.host, link, true).ok());
  Route route;
  route.destination = ip::Prefix::parse("10.7.0.0/16").value();
  route.gateway = ip::Address::parse("10.99.0.1").value();
  const Status added = add_route(node.host, link, route);
  REQUIRE(!added);
  CHECK(added.error().text().find("kernel: Nexthop has invalid gateway") != std::string::npos);
  route.gateway = ip::Address::parse("fd05::1").value();
  CHECK(add_route(node.host, link, route).error().code() == Code::invalid);
}

TEST_CASE("a link without VFs has no VF settings, and takes none") {
  Host node;
  CHECK(vf_settings(node.host, node.index("host0"))->empty());
  const Status set =
      set_vf_guids(node.host, node.index("host0"), VfIndex{0}, ib::Guid(1), ib::Guid(2));
  CHECK(set.error().code() == Code::unsupported);
}

TEST_CASE("a request that does not fit is refused, not cut") {
  Host node;
  const std::vector<std::byte> much(100'000);
  Message message("ask for too much", RTM_SETLINK, 0);
  message.header(ifinfomsg{}).bytes(IFLA_ADDRESS, much);
  CHECK(node.host.send(message).error().code() == Code::invalid);
}

TEST_CASE("a long list comes whole") {
  Host node;
  constexpr size_t kMany = 1000;
  const IfIndex link = node.index("host0");
  for (size_t i = 0; i < kMany; ++i) {
    const std::string text = "10." + std::to_string(i / 250) + ".0." + std::to_string(i % 250 + 1);
    REQUIRE(add_address(node.host, link, ip::Prefix::parse(text + "/32").value()).ok());
  }
  CHECK(addresses(node.host, link)->size() == kMany);
}

bool readable(int fd) {
  pollfd waiting{fd, POLLIN, 0};
  return ::poll(&waiting, 1, 0) == 1;
}

TEST_CASE("a subscriber hears of a change once it happens, and nothing more after it has drained") {
  Host node;
  Socket events = Socket::open_in(node.home.fd(), Family::route).value();
  REQUIRE(events.subscribe_to_links().ok());
  CHECK(!readable(events.fd()));
  REQUIRE(set_mtu(node.host, node.index("host0"), 1400).ok());
  CHECK(readable(events.fd()));
  events.discard_pending();
  CHECK(!readable(events.fd()));
}

TEST_CASE("a subscriber that has lost events can be drained and hears again") {
  Host node;
  Socket events = Socket::open_in(node.home.fd(), Family::route).value();
  REQUIRE(events.subscribe_to_links().ok());
  for (uint32_t i = 0; i < 2000; ++i) {
    REQUIRE(set_mtu(node.host, node.index("host0"), 1400 + i % 2).ok());
  }
  events.discard_pending();
  CHECK(!readable(events.fd()));
  REQUIRE(set_mtu(node.host, node.index("host0"), 1300).ok());
  CHECK(readable(events.fd()));
}

}  // namespace
}  // namespace ibpod::nl
