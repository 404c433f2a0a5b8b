// The base of the contract's cases: a fixture, and checks on it.
#pragma once

#include "tests/contract/kernel_contract.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod::contract {

using node::kHost;
using node::Namespace;
using node::Netdev;
using node::NetdevChange;

inline constexpr Duration kTimeout{15000};
inline constexpr ib::PKey kPartition{0x8001};

// The value, or the case ends with the reason.
template <typename T>
T must(Result<T> result) {
  if (!result) FAIL(result.error().text());
  return std::move(result).value();
}

template <typename T>
Code refusal(const Result<T>& result) {
  REQUIRE_FALSE(result.ok());
  return result.error().code();
}

// A bed, and what cases say about it.
struct Case {
  std::unique_ptr<Fixture> fixture = make_fixture();
  const ib::PciAddress vf = fixture->vf();

  node::Kernel& k() { return fixture->kernel(); }
  node::Function function() { return *must(k().function(vf)); }

  std::optional<Netdev> find_own(const Namespace& where) {
    for (const Netdev& netdev : must(k().netdevs(where, vf))) {
      if (!netdev.parent) return netdev;
    }
    return std::nullopt;
  }
  Netdev own(const Namespace& where) {
    const std::optional<Netdev> found = find_own(where);
    REQUIRE(found);
    return *found;
  }
  std::optional<node::RdmaDevice> find_rdma(const Namespace& where) {
    const auto devices = must(k().rdma_devices(where, vf));
    if (devices.empty()) return std::nullopt;
    return devices.front();
  }
  node::RdmaDevice rdma(const Namespace& where) {
    const auto found = find_rdma(where);
    REQUIRE(found);
    return *found;
  }
  ib::Port port(const Namespace& where) { return must(k().port(where, rdma(where).name)); }

  // Things happen without the caller's doing.
  template <typename Look>
  bool soon(Look look) {
    return must(wait_until(k(), Deadline::in(kTimeout), [&]() -> Result<bool> { return look(); }));
  }
  bool soon_in(ib::PortState state, const Namespace& where) {
    return soon([&] { return find_rdma(where) && port(where).state == state; });
  }
  bool soon_back() {
    return soon([&] { return find_rdma(kHost) && find_own(kHost); });
  }

  void change(const Namespace& where, const Netdev& netdev, const NetdevChange& wanted) {
    must(k().change_netdev(where, netdev.index, wanted));
  }
  void set_up(const Namespace& where, bool up) {
    NetdevChange wanted;
    wanted.up = up;
    change(where, own(where), wanted);
  }
  void set_altnames(const Namespace& where, const std::vector<std::string>& altnames) {
    NetdevChange wanted;
    wanted.altnames = altnames;
    change(where, own(where), wanted);
  }
  Status rename(const Namespace& where, const std::string& name) {
    NetdevChange wanted;
    wanted.name = name;
    return k().change_netdev(where, own(where).index, wanted);
  }
  // The RDMA device and the netdev, in the namespace in which the kernel made it again. Returns the
  // device as it was.
  node::RdmaDevice give_all(const Namespace& pod) {
    node::RdmaDevice device = rdma(kHost);
    must(k().move_rdma(kHost, device.name, pod));
    REQUIRE(soon([&] { return find_own(pod) || find_own(kHost); }));
    if (const auto outside = find_own(kHost))
      must(k().move_netdev(kHost, outside->index, pod, "net1"));
    return device;
  }
  void rebind() {
    const auto driver = function().driver;
    must(k().set_driver(vf, std::nullopt));
    must(k().set_driver(vf, driver));
  }
};

}  // namespace ibpod::contract
