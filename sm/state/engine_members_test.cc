#include "sm/state/engine_members.h"

#include "sm/state/state.h"

#include <doctest/doctest.h>

namespace ibpod::sm::state {
namespace {

using fabric::Membership;

const ib::Guid kPort(0x0002'c903'0000'0001);

// A port in the partition blue. refresh() is what updates the engine members.
struct MembersFixture {
  State state;
  PartitionRecord& blue = state.add(partition("blue", 0x100));
  uint64_t version = 1;

  static fabric::Partition partition(const std::string& name, uint16_t pkey) {
    fabric::Partition partition;
    partition.name = name;
    partition.pkey = ib::PKey(pkey);
    return partition;
  }
  BindingRecord& bind(const std::string& container, fabric::Kind kind,
                      Membership membership = Membership::limited) {
    fabric::Binding binding;
    binding.attachment = {"n1", container, "net1"};
    binding.guid = kPort;
    binding.kind = kind;
    binding.desired = binding.applied = {{"blue", membership}};
    return state.add(std::move(binding), {});
  }
  bool refresh() { return state.refresh(kPort, ++version); }
  std::optional<EngineMember> member() const {
    const auto found = blue.engine_members.find(kPort);
    return found == blue.engine_members.end() ? std::nullopt : std::optional(found->second);
  }
};

TEST_CASE("a port is a member by its bindings, until the last of them is being released") {
  MembersFixture fixture;
  BindingRecord& first = fixture.bind("a", fabric::Kind::child);
  BindingRecord& second = fixture.bind("b", fabric::Kind::child);
  CHECK(fixture.refresh());
  CHECK(fixture.member() == EngineMember{Membership::limited, true});
  first.binding.state = fabric::BindingState::releasing;
  CHECK_FALSE(fixture.refresh());
  CHECK(fixture.member());
  second.binding.state = fabric::BindingState::releasing;
  CHECK(fixture.refresh());
  CHECK_FALSE(fixture.member());
}

TEST_CASE("a port takes index 0 unless only children use the partition") {
  MembersFixture fixture;
  fixture.bind("a", fabric::Kind::child);
  fixture.refresh();
  CHECK(fixture.member()->skip_index0);
  SUBCASE("a binding of the port itself") { fixture.bind("b", fabric::Kind::vf); }
  SUBCASE("a static membership") {
    fixture.state.set_members(fixture.blue, {{kPort, Membership::limited, ""}});
  }
  CHECK(fixture.refresh());
  CHECK_FALSE(fixture.member()->skip_index0);
}

TEST_CASE("a change makes the port's version new, and the partition is rendered again") {
  MembersFixture fixture;
  BindingRecord& entry = fixture.bind("a", fabric::Kind::vf);
  fixture.blue.rendered.emplace();
  CHECK(fixture.refresh());
  CHECK_FALSE(fixture.blue.rendered);
  CHECK(fixture.state.records().find_port(kPort)->changed_in == fixture.version);
  const uint64_t changed = fixture.version;
  fixture.blue.rendered.emplace();
  CHECK_FALSE(fixture.refresh());
  CHECK(fixture.blue.rendered);
  CHECK(fixture.state.records().find_port(kPort)->changed_in == changed);
  fixture.state.set_memberships(entry, {{"blue", Membership::full}}, {{"blue", Membership::full}},
                                {});
  CHECK(fixture.refresh());
  CHECK_FALSE(fixture.blue.rendered);
  CHECK(fixture.member()->membership == Membership::full);
}

TEST_CASE("a binding in a partition that does not exist makes no member") {
  MembersFixture fixture;
  BindingRecord& entry = fixture.bind("a", fabric::Kind::vf);
  fixture.state.set_memberships(entry, {{"none", Membership::full}}, {{"none", Membership::full}},
                                {});
  CHECK_FALSE(fixture.refresh());
  CHECK_FALSE(fixture.member());
}

}  // namespace
}  // namespace ibpod::sm::state
