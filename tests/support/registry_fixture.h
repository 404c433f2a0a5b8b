// A registry for tests: a fabric of a few nodes and partitions, in which everything the registry
// wants comes true when it is told to.
#pragma once

#include "sm/registry/memberships.h"
#include "sm/registry/registry.h"
#include "tests/support/fake_store.h"

#include <doctest/doctest.h>

namespace ibpod::sm::registry {

using fabric::BindingState;
using fabric::Membership;
using fabric::Partition;
using fabric::PartitionState;
using fabric::Proof;
using fabric::Reason;
using fabricapi::BindRequest;
using fabricapi::Caller;
using fabricapi::Role;

inline constexpr Membership kLimited = Membership::limited, kFull = Membership::full,
                            kBoth = Membership::both;

inline Caller administrator() { return {Role::administrator, "", "admin"}; }
inline Caller node(const std::string& name) { return {Role::node, name, name}; }
inline Caller reader() { return {Role::reader, "", "reader"}; }

inline ib::Guid vf(uint64_t number) { return ib::Guid(0x0200'0000'0000'0000 + number); }
inline ib::Guid pf(uint64_t number) { return ib::Guid(0x0002'c903'0000'0000 + number); }
inline ib::Guid storage(uint64_t number) { return ib::Guid(0x0002'c903'1000'0000 + number); }

// Nodes n1 to n4 have VFs 1 to 9, 11 to 19 ... and one PF each.
inline Policy policy() {
  Policy policy;
  policy.pkeys = pool::PKeyPool::make({{0x10, 0x13, pool::RangeUse::automatic},
                                       {0x100, 0x1ff, pool::RangeUse::by_request}})
                     .value();
  policy.guids = pool::GuidPool::make({{vf(0x1000), vf(0x1007)}}).value();
  for (uint64_t n = 1; n <= 4; ++n) {
    Policy::NodePorts& given = policy.nodes["n" + std::to_string(n)];
    for (uint64_t i = 1; i <= 9; ++i) given.guids.insert(vf((n - 1) * 10 + i));
    given.pfs.insert(pf(n));
  }
  return policy;
}

inline Partition make_partition(const std::string& name, int pkey,
                                std::vector<std::string> allowed = {"*"}) {
  Partition partition;
  partition.name = name;
  if (pkey != 0) partition.pkey = ib::PKey(static_cast<uint16_t>(pkey));
  partition.membership = kFull;  // so that its members may choose
  partition.allowed = std::move(allowed);
  return partition;
}

inline std::vector<Partition> none() { return {}; }

inline BindRequest request(const std::string& node, const std::string& container, ib::Guid guid,
                           std::vector<BindRequest::PartitionRequest> partitions) {
  BindRequest request;
  request.attachment = {node, container, "net1"};
  request.guid = guid;
  request.pf = "ib0";
  request.device = "0000:01:00.1";
  request.pod = {"team", "pod-" + container, "uid-" + container};
  request.partitions = std::move(partitions);
  return request;
}

inline BindRequest child(const std::string& node, const std::string& container, ib::Guid guid,
                         std::vector<BindRequest::PartitionRequest> partitions) {
  BindRequest child = request(node, container, guid, std::move(partitions));
  child.kind = fabric::Kind::child;
  child.device = "0000:01:00.0";
  return child;
}

struct Fixture {
  FakeStore store;
  Policy settings = policy();
  Now now{Steady(std::chrono::hours(1)), fabric::WallTime(std::chrono::milliseconds(1000))};
  std::unique_ptr<Registry> registry;

  using Steady = std::chrono::steady_clock::time_point;

  explicit Fixture(const std::vector<Partition>& partitions = {make_partition("blue", 0x100),
                                                               make_partition("red", 0x101)},
                   Policy given = policy())
      : settings(std::move(given)) {
    start();
    for (const Partition& partition : partitions) create(partition);
    settle();
  }

  void start() { registry = Registry::load(store, settings, now).value(); }
  void commit() { REQUIRE(registry->commit(now)); }
  void advance(Duration time) {
    now.steady += time;
    now.wall += time;
  }

  void create(const Partition& partition) {
    REQUIRE(registry->create(administrator(), partition));
    commit();
  }
  fabric::Binding bind(const BindRequest& request) {
    const Result<fabric::Binding> bound = try_bind(request);
    REQUIRE_MESSAGE(bound.ok(), (bound.ok() ? "" : bound.error().text()));
    commit();
    return *bound;
  }
  Result<fabric::Binding> try_bind(const BindRequest& request) {
    return registry->bind(node(request.attachment.node), request, {}, now);
  }
  Error refusal(const BindRequest& request) { return try_bind(request).error(); }
  fabric::Binding unbind(const BindRequest& request) {
    const auto unbound =
        registry->unbind(node(request.attachment.node), request.attachment, now).value();
    commit();
    return unbound;
  }

  std::optional<fabric::Binding> binding(const BindRequest& request) const {
    const auto found = registry->binding(administrator(), request.attachment);
    return found ? std::optional(*found) : std::nullopt;
  }
  BindingState state(const BindRequest& request) const {
    const auto found = binding(request);
    return found ? found->state : BindingState::released;
  }
  PartitionState state(const std::string& partition) const {
    return registry->partition(partition).value().state;
  }

  // The subnet manager reads what is wanted, and has swept with it.
  void sweep() {
    registry->note_written(registry->version(), now);
    registry->note_swept(registry->version());
    commit();
  }
  bool see(ib::Guid guid, Proof proof = Proof::port) {
    const bool meant =
        registry->note_verified(guid, registry->version(), proof, fabric::Enforcement::hca, now);
    commit();
    return meant;
  }
  bool see_without_commit(ib::Guid guid) const {
    return registry->note_verified(guid, registry->version(), Proof::port, {}, now);
  }
  // Until there is nothing more to be seen.
  void settle() {
    for (int i = 0; i < 4; ++i) {
      sweep();
      const std::set<ib::Guid> unsettled = registry->unsettled();
      if (unsettled.empty()) return;
      for (const ib::Guid guid : unsettled) see(guid);
    }
    FAIL("it does not come to an end");
  }

  // The keys that OpenSM would write into a port's table: "0x8100 0x0101".
  std::string keys(ib::Guid guid) const {
    std::string text;
    for (const ib::PKey key : registry->expected(guid).keys)
      text += (text.empty() ? "" : " ") + key.text();
    return text;
  }
};

}  // namespace ibpod::sm::registry
