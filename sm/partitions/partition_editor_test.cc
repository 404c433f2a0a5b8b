#include "sm/partitions/partition_editor.h"

#include "tests/support/registry_fixture.h"

namespace ibpod::sm::partitions {
namespace {

using namespace test;

struct EditorFixture : Fixture {
  state::Journal& journal = registry->journal;
  PartitionAdmission admission{journal};
  PartitionEditor editor{journal, admission};

  using Fixture::Fixture;
  state::PartitionRecord& record(const std::string& name) const {
    return *journal.state().find_partition(name);
  }
};

Partition with_member(const std::string& name, ib::Guid member) {
  Partition partition = make_partition(name, 0x100);
  partition.members = {{member, kFull, ""}};
  return partition;
}

TEST_CASE("a new partition waits for a sweep of its version") {
  EditorFixture fixture(none());
  const uint64_t version = fixture.journal.version();
  const state::PartitionRecord& blue =
      *fixture.editor.create(with_member("blue", storage(1))).value();
  CHECK(blue.version > version);
  CHECK_FALSE(blue.swept);
  CHECK(blue.state == PartitionState::provisioning);
  CHECK(blue.condition.reason == Reason::waiting);
  CHECK(blue.never_seen == std::set{storage(1)});
  CHECK_FALSE(fixture.journal.records().last_pkey);
  CHECK(fixture.journal.commit(fixture.now).wrote);
}

TEST_CASE("the pool continues after the last P_Key that it gave, also after a restart") {
  EditorFixture fixture(none());
  REQUIRE(fixture.editor.create(make_partition("blue", 0)));
  CHECK(fixture.journal.records().last_pkey == 0x10);
  fixture.commit();
  CHECK(fixture.store.objects[state::RecordKind::range].contains("pkeys"));
}

TEST_CASE("a change has a new version only if the subnet manager has to write it") {
  EditorFixture fixture;
  state::PartitionRecord& blue = fixture.record("blue");
  const uint64_t version = blue.version;
  Partition changed = blue.partition;
  const uint64_t changes = fixture.journal.changes();
  REQUIRE(fixture.editor.update(blue, changed, fixture.now));
  CHECK(fixture.journal.changes() == changes);
  changed.allowed = {"team"};
  REQUIRE(fixture.editor.update(blue, changed, fixture.now));
  CHECK(fixture.journal.changes() > changes);
  CHECK(blue.version == version);
  CHECK(blue.swept);
  CHECK(blue.state == PartitionState::ready);
  changed.mtu = fabric::Mtu::mtu_1024;
  REQUIRE(fixture.editor.update(blue, changed, fixture.now));
  CHECK(blue.version > version);
  CHECK_FALSE(blue.swept);
  CHECK(blue.state == PartitionState::provisioning);
}

TEST_CASE("a refused change changes nothing") {
  EditorFixture fixture;
  state::PartitionRecord& blue = fixture.record("blue");
  const Partition before = blue.partition;
  const uint64_t changes = fixture.journal.changes();
  Partition changed = make_partition("blue", 0x101);
  changed.members = {{storage(1), kFull, ""}};
  CHECK_FALSE(fixture.editor.update(blue, changed, fixture.now));
  CHECK(blue.partition == before);
  CHECK(fixture.journal.changes() == changes);
  CHECK(fixture.journal.records().find_port(storage(1)) == nullptr);
}

TEST_CASE("a key that moves to another index makes older readings of its ports invalid") {
  EditorFixture fixture({with_member("blue", storage(1))});
  const auto changed_in = [&] {
    return fixture.journal.records().find_port(storage(1))->changed_in;
  };
  const uint64_t before = changed_in();
  Partition changed = fixture.record("blue").partition;
  changed.mtu = fabric::Mtu::mtu_1024;
  REQUIRE(fixture.editor.update(fixture.record("blue"), changed, fixture.now));
  CHECK(changed_in() == before);
  changed.index0 = true;
  REQUIRE(fixture.editor.update(fixture.record("blue"), changed, fixture.now));
  CHECK(changed_in() == fixture.journal.version());
}

TEST_CASE("a port that is no longer a member may still hold the key, until it is one again") {
  EditorFixture fixture({with_member("blue", storage(1))});
  state::PartitionRecord& blue = fixture.record("blue");
  REQUIRE(fixture.editor.update(blue, with_member("blue", storage(2)), fixture.now));
  CHECK(blue.former_members == std::set{storage(1)});
  CHECK(blue.never_seen.contains(storage(2)));
  REQUIRE(fixture.editor.update(blue, with_member("blue", storage(1)), fixture.now));
  CHECK(blue.former_members == std::set{storage(2)});
}

TEST_CASE("if the proof becomes stricter, bindings must be verified again") {
  EditorFixture fixture;
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  fixture.bind(a);
  fixture.sweep();
  REQUIRE(fixture.see(vf(1), Proof::node));
  REQUIRE(fixture.state(a) == BindingState::verified);
  Partition changed = fixture.record("blue").partition;
  changed.allowed = {"team"};
  REQUIRE(fixture.editor.update(fixture.record("blue"), changed, fixture.now));
  CHECK(fixture.state(a) == BindingState::verified);
  changed.proof = Proof::port;
  REQUIRE(fixture.editor.update(fixture.record("blue"), changed, fixture.now));
  CHECK(fixture.state(a) == BindingState::written);
  CHECK(fixture.registry->bindings.unsettled() == std::set{vf(1)});
}

TEST_CASE("a deletion takes the key from all members, and ends the declaration") {
  EditorFixture fixture({with_member("blue", storage(1))});
  state::PartitionRecord& blue = fixture.record("blue");
  blue.declared = true;
  const uint64_t version = blue.version;
  REQUIRE(fixture.editor.begin_delete(blue));
  CHECK(blue.deleting());
  CHECK_FALSE(blue.declared);
  CHECK(blue.partition.members.empty());
  CHECK(blue.former_members == std::set{storage(1)});
  CHECK(blue.version > version);
  CHECK(fixture.journal.staged().conflict_freed());
}

TEST_CASE("a partition with a binding is not deleted") {
  EditorFixture fixture;
  fixture.bind(request("n1", "a", vf(1), {{"blue", kLimited}}));
  fixture.journal.staged().clear_conflict_freed();
  CHECK(fixture.editor.begin_delete(fixture.record("blue")).error().code() == Code::busy);
  CHECK_FALSE(fixture.record("blue").deleting());
  CHECK_FALSE(fixture.journal.staged().conflict_freed());
}

}  // namespace
}  // namespace ibpod::sm::partitions
