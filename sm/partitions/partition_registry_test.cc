#include "lib/base/join.h"
#include "tests/support/registry_fixture.h"

namespace ibpod::sm::partitions {
namespace {

using namespace test;

using fabric::StaticMember;

Result<fabric::PartitionStatus> create(Fixture& bed, const Partition& partition) {
  return bed.registry->partitions.create(partition);
}
Result<fabric::PartitionStatus> update(Fixture& bed, const Partition& partition) {
  return bed.registry->partitions.update(partition, bed.now);
}
Result<fabric::PartitionStatus> remove(Fixture& bed, const std::string& name) {
  return bed.registry->partitions.remove(name);
}

std::string names(const Registries& registry) {
  return join(*registry.partitions.view().definitions(), " ", &fabric::PartitionDefinition::name);
}

const fabric::PartitionDefinition& told(const Registries& registry, const std::string& name) {
  const auto definitions = registry.partitions.view().definitions();
  for (const fabric::PartitionDefinition& definition : *definitions)
    if (definition.name == name) return definition;
  FAIL(name);
  return definitions->front();
}

TEST_CASE("a partition is provisioning until it has been swept, and deleting likewise") {
  Fixture bed(none());
  const auto made = create(bed, make_partition("blue", 0x100)).value();
  CHECK(made.state == PartitionState::provisioning);
  CHECK(made.spec.pkey == ib::PKey(0x100));
  CHECK_FALSE(made.declared);
  const uint64_t version = bed.registry->journal.version();
  bed.registry->partitions.note_swept(version - 1);
  CHECK(bed.state("blue") == PartitionState::provisioning);
  bed.registry->partitions.note_swept(version);
  CHECK(bed.state("blue") == PartitionState::ready);
  CHECK(names(*bed.registry) == "Default blue");

  CHECK(remove(bed, "blue").value().state == PartitionState::deleting);
  CHECK(names(*bed.registry) == "Default");
  CHECK(remove(bed, "blue").value().state == PartitionState::deleting);
  CHECK(create(bed, make_partition("blue", 0x101)).error().code() == Code::busy);
  CHECK(create(bed, make_partition("other", 0x100)).error().code() == Code::busy);
  CHECK(update(bed, make_partition("blue", 0)).error().code() == Code::busy);
  CHECK(bed.refusal(request("n1", "a", vf(1), {{"blue", kLimited}})).code() == Code::busy);
  bed.registry->partitions.note_swept(version);
  CHECK(bed.registry->partitions.view().find("blue"));
  bed.registry->partitions.note_swept(bed.registry->journal.version());
  CHECK_FALSE(bed.registry->partitions.view().find("blue"));
  bed.commit();
  CHECK(bed.store.objects[state::RecordKind::partition].empty());
  CHECK(create(bed, make_partition("other", 0x100)));
}

TEST_CASE("everything of a partition can be changed but its P_Key") {
  Fixture bed;
  Partition blue = make_partition("blue", 0, {"team"});
  const uint64_t version = bed.registry->journal.version();
  REQUIRE(update(bed, blue));
  CHECK(bed.registry->journal.version() == version);
  CHECK(bed.state("blue") == PartitionState::ready);
  blue.ipoib = true;
  CHECK(update(bed, blue).value().spec.pkey == ib::PKey(0x100));
  CHECK(bed.registry->journal.version() > version);
  CHECK(bed.state("blue") == PartitionState::provisioning);
  CHECK(told(*bed.registry, "blue").ipoib);
  blue.pkey = ib::PKey(0x100);
  CHECK(update(bed, blue));
  blue.pkey = ib::PKey(0x102);
  CHECK(update(bed, blue).error().code() == Code::invalid);
  CHECK(update(bed, make_partition("none", 0)).error().code() == Code::not_found);
  CHECK(remove(bed, "none").error().code() == Code::not_found);
  bed.commit();
  bed.start();
  CHECK(bed.registry->partitions.view().find("blue")->spec.allowed ==
        std::vector<std::string>{"team"});
  CHECK(bed.registry->partitions.view().find("blue")->spec.ipoib == true);
}

TEST_CASE("a member stays in a partition when its namespace is no longer allowed") {
  Fixture bed({make_partition("blue", 0x100, {"team"}), make_partition("red", 0x101)});
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  bed.bind(a);
  REQUIRE(update(bed, make_partition("blue", 0, {})));
  CHECK(bed.keys(vf(1)) == "0x0100");
  bed.bind(a);
  bed.bind(request("n1", "a", vf(1), {{"blue", kLimited}, {"red", kLimited}}));
  CHECK(bed.refusal(request("n1", "a", vf(1), {{"blue", kFull}})).code() == Code::denied);
  CHECK(bed.refusal(request("n1", "b", vf(2), {{"blue", kLimited}})).code() == Code::denied);
}

TEST_CASE("a static member's key has to be seen to be gone before it is another partition's") {
  Partition blue = make_partition("blue", 0x100);
  blue.members = {{storage(1), kFull, "filer"}, {storage(2), kFull, "filer"}};
  Fixture bed({blue});
  CHECK(bed.keys(storage(1)) == "0x8100");
  CHECK(bed.registry->bindings.unsettled().empty());
  // This member was taken out before, and was switched off.
  blue.members.pop_back();
  REQUIRE(update(bed, blue));
  CHECK(bed.registry->bindings.unsettled() == std::set{storage(2)});
  CHECK_FALSE(expected_table(*bed.registry, storage(2)).pending_removal.empty());
  REQUIRE(remove(bed, "blue"));
  CHECK(bed.registry->bindings.unsettled() == std::set{storage(1), storage(2)});
  bed.sweep();
  CHECK(bed.see(storage(1)));
  bed.start();
  bed.sweep();
  const auto waiting = bed.registry->partitions.view().find("blue").value();
  CHECK(waiting.state == PartitionState::deleting);
  CHECK(waiting.condition.text == "these ports may still hold its P_Key: 00:02:c9:03:10:00:00:02");
  CHECK(create(bed, make_partition("red", 0x100)).error().code() == Code::busy);
  bed.registry->bindings.set_condition(storage(2), {Reason::timeout, ""}, bed.now);
  bed.sweep();
  CHECK(bed.registry->partitions.view().find("blue"));
  CHECK(bed.see(storage(2)));
  CHECK_FALSE(bed.registry->partitions.view().find("blue"));
  CHECK(create(bed, make_partition("red", 0x100)));
}

TEST_CASE("a partition is not gone before it has been swept, whatever has been seen") {
  Partition blue = make_partition("blue", 0x100);
  blue.members = {{storage(1), kFull, ""}};
  Fixture bed({blue});
  REQUIRE(remove(bed, "blue"));
  CHECK(bed.see(storage(1)));
  CHECK(bed.registry->partitions.view().find("blue"));
  bed.sweep();
  CHECK_FALSE(bed.registry->partitions.view().find("blue"));
}

TEST_CASE("one that comes back to where it was leaving stays") {
  Partition blue = make_partition("blue", 0x100);
  blue.members = {{storage(1), kFull, ""}};
  Fixture bed({blue});
  REQUIRE(update(bed, make_partition("blue", 0)));
  REQUIRE(update(bed, blue));
  CHECK(bed.registry->bindings.unsettled().empty());
  CHECK(bed.keys(storage(1)) == "0x8100");
}

TEST_CASE("no partition in use is deleted") {
  Fixture bed;
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  bed.bind(a);
  CHECK(remove(bed, "blue").error().code() == Code::busy);
  bed.unbind(a);
  CHECK(remove(bed, "blue").error().code() == Code::busy);
  CHECK(remove(bed, "blue").error().text() ==
        "partition blue: 1 binding still uses it; list them with `ibpodctl binding list "
        "--partition blue`");
  bed.settle();
  CHECK(remove(bed, "blue"));
}

TEST_CASE("a partition that cannot come into force says why until it can") {
  Fixture bed;
  bed.create(make_partition("green", 0x102));
  bed.registry->partitions.set_engine_faults({Reason::misconfigured, "the disk is full"});
  CHECK(bed.state("green") == PartitionState::error);
  CHECK(bed.registry->partitions.view().find("green")->condition.text == "the disk is full");
  CHECK(bed.state("blue") == PartitionState::ready);
  bed.registry->partitions.set_engine_faults({});
  CHECK(bed.state("green") == PartitionState::provisioning);
  bed.registry->partitions.set_engine_faults({Reason::no_master, ""});
  bed.sweep();
  bed.registry->partitions.set_engine_faults({});
  CHECK(bed.state("green") == PartitionState::ready);
}

TEST_CASE("a partition that alone is not in place is an error, also if it was ready") {
  Fixture bed;
  bed.create(make_partition("green", 0x102));
  auto& partitions = bed.registry->partitions;
  const auto fault = [&](uint16_t pkey, const std::string& text) {
    partitions.set_engine_faults({}, {{pkey, text}});
  };
  fault(0x102, "in use");
  CHECK(bed.state("green") == PartitionState::error);
  CHECK(bed.state("blue") == PartitionState::ready);
  // A sweep does not make it ready.
  bed.sweep();
  fault(0x102, "in use by two");
  CHECK(bed.state("green") == PartitionState::error);
  CHECK(partitions.view().find("green")->condition ==
        fabric::Condition{Reason::misconfigured, "in use by two"});
  partitions.set_engine_faults({});
  CHECK(bed.state("green") == PartitionState::ready);
  CHECK(partitions.view().find("green")->condition.text.empty());
  fault(0x102, "in use");
  CHECK(bed.state("green") == PartitionState::error);
  // A partition that ends stays one.
  REQUIRE(remove(bed, "green"));
  fault(0x102, "in use");
  CHECK(bed.state("green") == PartitionState::deleting);
}

}  // namespace
}  // namespace ibpod::sm::partitions
