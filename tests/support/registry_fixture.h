// The registries of ibpod-sm for tests: a subnet of a few nodes and partitions, in which everything
// that they want comes true when a test says so.
#pragma once

#include "lib/base/join.h"
#include "sm/bindings/registries.h"
#include "sm/verify/desired_keys.h"
#include "tests/support/fake_store.h"

#include <algorithm>

#include <doctest/doctest.h>

namespace ibpod::sm::test {

using bindings::PortFacts;
using bindings::Registries;
using fabric::BindingState;
using fabric::Membership;
using fabric::Partition;
using fabric::PartitionState;
using fabric::Proof;
using fabric::Reason;
using fabricapi::BindRequest;
using fabricapi::Caller;
using fabricapi::Role;
using state::Memberships;
using state::Now;
using state::Policy;
using state::Steady;

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

// No scan has found the port.
inline PortFacts absent() { return {.absent_at = Steady::max()}; }

// The keys of a port without those of the default partition.
struct ExpectedTable {
  std::vector<ib::PKey> keys;             // all 16 bits, sorted
  std::vector<ib::PKey> pending_removal;  // to be removed before bindings are released
  std::optional<ib::PKey> index0;         // the one of `keys` at index 0
};

inline verify::DesiredKeys desired_keys(const Registries& registry) {
  std::vector<fabric::PartitionDefinition> own = *registry.partitions.view().definitions();
  own.erase(own.begin());
  return verify::DesiredKeys(own);
}

inline ExpectedTable expected_table(const Registries& registry, ib::Guid guid,
                                    const verify::DesiredKeys& keys) {
  const verify::DesiredTable desired = keys.of({.guid = guid});
  ExpectedTable expected{desired.keys, {}, desired.index0};
  const state::Records& records = registry.journal.records();
  const state::PortRecord* const port = records.find_port(guid);
  if (port == nullptr) return expected;
  std::set<ib::PKey> leaving;
  const auto leaves = [&](const std::string& partition, Membership membership) {
    const ib::PKey pkey = *records.find_partition(partition)->partition.pkey;
    for (const ib::PKey key : state::keys_of(pkey, membership))
      if (!std::binary_search(desired.keys.begin(), desired.keys.end(), key)) leaving.insert(key);
  };
  for (const state::BindingRecord* const entry : port->bindings)
    for (const fabric::PartitionMembership& membership : entry->pending_removal)
      leaves(membership.partition, membership.membership);
  // Their former membership is not stored.
  for (const state::PartitionRecord* const record : port->former_member_of)
    leaves(record->partition.name, kBoth);
  expected.pending_removal.assign(leaving.begin(), leaving.end());
  return expected;
}
inline ExpectedTable expected_table(const Registries& registry, ib::Guid guid) {
  return expected_table(registry, guid, desired_keys(registry));
}

struct Fixture {
  FakeStore store;
  Policy settings = policy();
  Now now{Steady(std::chrono::hours(1)), fabric::WallTime(std::chrono::milliseconds(1000))};
  PortFacts facts = absent();
  std::unique_ptr<Registries> registry;

  explicit Fixture(const std::vector<Partition>& partitions = {make_partition("blue", 0x100),
                                                               make_partition("red", 0x101)},
                   Policy given = policy())
      : settings(std::move(given)) {
    start();
    for (const Partition& partition : partitions) create(partition);
    settle();
  }

  void start() { registry = Registries::load(store, settings, now).value(); }
  void commit() {
    const state::CommitResult committed = registry->journal.commit(now);
    REQUIRE(committed.status);
    expired_.insert(expired_.end(), committed.expired.begin(), committed.expired.end());
  }
  // Attachments that commits have reported as expired since the last call.
  std::vector<fabric::Attachment> expired() {
    commit();
    return std::exchange(expired_, {});
  }
  void advance(Duration time) {
    now.steady += time;
    now.wall += time;
  }

  void create(const Partition& partition) {
    REQUIRE(registry->partitions.create(partition));
    commit();
  }
  fabric::Binding bind(const BindRequest& request) {
    const Result<fabric::Binding> bound = try_bind(request);
    REQUIRE_MESSAGE(bound.ok(), (bound.ok() ? "" : bound.error().text()));
    commit();
    return *bound;
  }
  Result<fabric::Binding> try_bind(const BindRequest& request) {
    return registry->bindings.bind(node(request.attachment.node), request, facts, now);
  }
  Error refusal(const BindRequest& request) { return try_bind(request).error(); }
  fabric::Binding unbind(const BindRequest& request) {
    const auto unbound = registry->bindings.unbind(request.attachment, now).value();
    commit();
    return unbound;
  }

  std::optional<fabric::Binding> binding(const BindRequest& request) const {
    const auto found = registry->bindings.binding(request.attachment);
    return found ? std::optional(*found) : std::nullopt;
  }
  BindingState state(const BindRequest& request) const {
    const auto found = binding(request);
    return found ? found->state : BindingState::released;
  }
  PartitionState state(const std::string& partition) const {
    return registry->partitions.view().find(partition).value().state;
  }

  // The subnet manager reads what is wanted, and has swept with it.
  void sweep() {
    registry->bindings.note_written(registry->journal.version(), now);
    registry->partitions.note_swept(registry->journal.version());
    commit();
  }
  bool see(ib::Guid guid, Proof proof = Proof::port) {
    const bool meant = registry->bindings.note_verified(guid, registry->journal.version(), proof,
                                                        fabric::Enforcement::hca, now);
    commit();
    return meant;
  }
  bool see_without_commit(ib::Guid guid) const {
    return registry->bindings.note_verified(guid, registry->journal.version(), Proof::port, {},
                                            now);
  }
  // Until there is nothing more to be seen.
  void settle() {
    for (int i = 0; i < 4; ++i) {
      sweep();
      const std::set<ib::Guid> unsettled = registry->bindings.unsettled();
      if (unsettled.empty()) return;
      for (const ib::Guid guid : unsettled) see(guid);
    }
    FAIL("it does not come to an end");
  }

  // The keys that OpenSM would write into a port's table: "0x8100 0x0101".
  std::string keys(ib::Guid guid) const {
    return join(expected_table(*registry, guid).keys, " ", &ib::PKey::text);
  }

 private:
  std::vector<fabric::Attachment> expired_;
};

}  // namespace ibpod::sm::test
