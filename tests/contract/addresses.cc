#include "tests/contract/case.h"

#include <algorithm>

namespace ibpod::contract {
namespace {

ip::Prefix prefix(const char* text) { return ip::Prefix::parse(text).value(); }
ip::Address address(const char* text) { return ip::Address::parse(text).value(); }

bool has(const std::vector<nl::LinkAddress>& all, const ip::Prefix& wanted) {
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& entry) { return entry.prefix == wanted; });
}

TEST_CASE("contract: addresses and routes are there and settled when configure() is through") {
  Case c;
  c.set_up(kHost, true);
  const nl::IfIndex netdev = c.own(kHost).index;
  nl::Route route;
  route.destination = prefix("10.98.0.0/16");
  route.gateway = address("10.99.0.254");
  nl::Route route6;
  route6.destination = prefix("fd00:98::/32");
  route6.gateway = address("fd00:99::ffff");
  const node::Addressing wanted{{prefix("10.99.0.1/24"), prefix("fd00:99::1/64")}, {route, route6}};
  must(c.k().configure(kHost, netdev, wanted, Deadline::in(kTimeout)));
  const auto now = must(c.k().addresses(kHost, netdev));
  CHECK(has(now, wanted.addresses[0]));
  CHECK(has(now, wanted.addresses[1]));
  // Those asked for: the kernel's own link-local address takes its time.
  CHECK(std::none_of(now.begin(), now.end(), [&](const auto& entry) {
    return entry.prefix == wanted.addresses[1] && (entry.tentative || entry.failed);
  }));
  const auto routes = must(c.k().routes(kHost, netdev));
  for (const nl::Route& asked : wanted.routes) {
    CHECK(std::any_of(routes.begin(), routes.end(), [&](const nl::Route& entry) {
      return entry.destination == asked.destination && entry.gateway == asked.gateway;
    }));
  }
  CHECK(refusal(c.k().configure(kHost, netdev, {{wanted.addresses[0]}, {}},
                                Deadline::in(kTimeout))) == Code::exists);
  must(c.k().configure(kHost, netdev, {{}, {route, route6}}, Deadline::in(kTimeout)));
  c.set_up(kHost, false);
  const auto down = must(c.k().addresses(kHost, netdev));
  CHECK(has(down, wanted.addresses[0]));
  CHECK_FALSE(has(down, wanted.addresses[1]));
  c.set_up(kHost, true);
  must(c.k().configure(kHost, netdev, {{}, {route}}, Deadline::in(kTimeout)));  // it had gone
}

TEST_CASE("contract: a route through a gateway that nothing leads to is refused") {
  Case c;
  c.set_up(kHost, true);
  nl::Route route;
  route.destination = prefix("10.98.0.0/16");
  route.gateway = address("10.97.0.254");
  const node::Addressing wanted{{prefix("10.99.0.1/24")}, {route}};
  CHECK_FALSE(c.k().configure(kHost, c.own(kHost).index, wanted, Deadline::in(kTimeout)));
  nl::Route way;
  way.destination = prefix("10.97.0.254/32");
  must(c.k().configure(kHost, c.own(kHost).index, {{}, {way, route}}, Deadline::in(kTimeout)));
}

TEST_CASE("contract: a default route is added beside another interface's") {
  Case c;
  const Namespace pod = c.fixture->make_pod("contract-a");
  c.fixture->add_netdev(pod, "contract0");
  const auto configure = [&](const Netdev& netdev, const char* own, const char* gateway) {
    NetdevChange up;
    up.up = true;
    c.change(pod, netdev, up);
    nl::Route route;
    route.destination = prefix("0.0.0.0/0");
    route.gateway = address(gateway);
    must(c.k().configure(pod, netdev.index, {{prefix(own)}, {route}}, Deadline::in(kTimeout)));
  };
  configure(*must(c.k().find_netdev(pod, "contract0")), "10.97.0.1/24", "10.97.0.254");
  must(c.k().move_netdev(kHost, c.own(kHost).index, pod, "net1"));
  configure(c.own(pod), "10.99.0.1/24", "10.99.0.254");
}

TEST_CASE("contract: an IPv6 address is given where the namespace has IPv6 disabled") {
  Case c;
  const Namespace pod = c.fixture->make_pod("contract-a");
  c.fixture->disable_ipv6(pod);
  c.fixture->add_netdev(pod, "contract0");
  const Netdev netdev = *must(c.k().find_netdev(pod, "contract0"));
  NetdevChange up;
  up.up = true;
  c.change(pod, netdev, up);
  const ip::Prefix wanted = prefix("fd00:97::1/64");
  must(c.k().configure(pod, netdev.index, {{wanted}, {}}, Deadline::in(kTimeout)));
  CHECK(has(must(c.k().addresses(pod, netdev.index)), wanted));
}

TEST_CASE("contract: without carrier no IPv6 address settles") {
  Case c;
  const node::Addressing wanted{{prefix("fd00:99::1/64")}, {}};
  CHECK(refusal(c.k().configure(kHost, c.own(kHost).index, wanted, Deadline::in(Duration(300)))) ==
        Code::unavailable);
}

TEST_CASE("contract: only an interface that is up announces") {
  Case c;
  const node::Addressing wanted{{prefix("10.99.0.1/24"), prefix("fd00:99::1/64")}, {}};
  CHECK_FALSE(c.k().announce(kHost, c.own(kHost).index, {wanted.addresses[0]}));
  c.set_up(kHost, true);
  REQUIRE(c.soon([&] { return c.own(kHost).carrier; }));
  must(c.k().configure(kHost, c.own(kHost).index, wanted, Deadline::in(kTimeout)));
  must(c.k().announce(kHost, c.own(kHost).index, wanted.addresses));
}

}  // namespace
}  // namespace ibpod::contract
