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
  return join(*registry.partitions.definitions(), " ", &fabric::PartitionDefinition::name);
}

const fabric::PartitionDefinition& told(const Registries& registry, const std::string& name) {
  const auto definitions = registry.partitions.definitions();
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
  CHECK(bed.registry->partitions.find("blue"));
  bed.registry->partitions.note_swept(bed.registry->journal.version());
  CHECK_FALSE(bed.registry->partitions.find("blue"));
  bed.commit();
  CHECK(bed.store.objects[state::RecordKind::partition].empty());
  CHECK(create(bed, make_partition("other", 0x100)));
}

TEST_CASE("a partition's definition has the fabric's defaults where it sets nothing") {
  Policy rules = policy();
  rules.group.mtu = fabric::Mtu::mtu_4096;
  rules.group.sl = 3;
  rules.ipoib = true;
  Fixture bed({make_partition("plain", 0x100)}, rules);
  CHECK(told(*bed.registry, "plain").group == rules.group);
  CHECK(told(*bed.registry, "plain").ipoib);
  CHECK(bed.registry->partitions.definitions()->front() == rules.default_rule);
  Partition own = make_partition("own", 0x101);
  own.mtu = fabric::Mtu::mtu_1024;
  own.rate = fabric::Rate(7);
  own.sl = 0;
  own.ipoib = false;
  own.index0 = true;
  own.members = {{storage(2), kFull, "b"}, {storage(1), kBoth, ""}};
  bed.create(own);
  fabric::PartitionDefinition want;
  want.name = "own";
  want.pkey = ib::PKey(0x101);
  want.index0 = true;
  want.group.mtu = fabric::Mtu::mtu_1024;
  want.group.rate = fabric::Rate(7);
  want.members = {{storage(1), kBoth}, {storage(2), kFull}};
  CHECK(told(*bed.registry, "own") == want);
  CHECK(fabric::check(want));
}

TEST_CASE("members are rendered in order, each once, with their present membership") {
  Partition blue = make_partition("blue", 0x100);
  blue.members = {{pf(1), kFull, ""}, {storage(1), kLimited, ""}};
  Fixture bed({blue});
  bed.bind(request("n1", "b", vf(2), {{"blue", kLimited}}));
  bed.bind(request("n1", "a", vf(1), {{"blue", kFull}}));
  bed.bind(child("n1", "c", pf(1), {{"blue", kFull}}));
  const std::vector<fabric::Member> want{
      {pf(1), kFull}, {storage(1), kLimited}, {vf(1), kFull}, {vf(2), kLimited}};
  CHECK(told(*bed.registry, "blue").members == want);
  const auto definitions = bed.registry->partitions.definitions();
  CHECK(bed.registry->partitions.definitions() == definitions);
  bed.unbind(child("n1", "c", pf(1), {}));
  CHECK(bed.registry->partitions.definitions() == definitions);
  CHECK(told(*bed.registry, "blue").members == want);
  CHECK(bed.registry->partitions.find("blue")->bindings == 3);
}

TEST_CASE("a P_Key is given from the pool, or named within a range for it") {
  Fixture bed(none());
  const auto pkey = [&](const std::string& name) {
    return create(bed, make_partition(name, 0)).value().spec.pkey->value();
  };
  CHECK(pkey("a") == 0x10);
  CHECK(pkey("b") == 0x11);
  REQUIRE(remove(bed, "a"));
  CHECK(pkey("c") == 0x12);
  bed.settle();
  // A P_Key that has become free is used last, after a restart, too.
  bed.start();
  CHECK(pkey("d") == 0x13);
  CHECK(pkey("e") == 0x10);
  CHECK(create(bed, make_partition("f", 0)).error().code() == Code::busy);
  REQUIRE(remove(bed, "b"));
  CHECK(create(bed, make_partition("f", 0)).error().code() == Code::busy);

  CHECK(create(bed, make_partition("g", 0x12)).error().code() == Code::exists);
  CHECK(create(bed, make_partition("g", 0x200)).error().code() == Code::invalid);
  CHECK(create(bed, make_partition("g", 0x7fff)).error().code() == Code::invalid);
  CHECK(create(bed, make_partition("g", 0x8100)).error().code() == Code::invalid);
  CHECK(create(bed, make_partition("g", 0x100)).value().spec.pkey == ib::PKey(0x100));
  CHECK(create(bed, make_partition("h", 0x100)).error().code() == Code::exists);
  CHECK(create(bed, make_partition("h", 0x100)).error().text() ==
        "partition h: P_Key 0x0100 is already used by partition g");
  CHECK(create(bed, make_partition("g", 0x101)).error().code() == Code::exists);
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
  CHECK(bed.registry->partitions.find("blue")->spec.allowed == std::vector<std::string>{"team"});
  CHECK(bed.registry->partitions.find("blue")->spec.ipoib == true);
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
  const auto waiting = bed.registry->partitions.find("blue").value();
  CHECK(waiting.state == PartitionState::deleting);
  CHECK(waiting.condition.text == "these ports may still hold its P_Key: 00:02:c9:03:10:00:00:02");
  CHECK(create(bed, make_partition("red", 0x100)).error().code() == Code::busy);
  bed.registry->bindings.set_condition(storage(2), {Reason::timeout, ""}, bed.now);
  bed.sweep();
  CHECK(bed.registry->partitions.find("blue"));
  CHECK(bed.see(storage(2)));
  CHECK_FALSE(bed.registry->partitions.find("blue"));
  CHECK(create(bed, make_partition("red", 0x100)));
}

TEST_CASE("a fault of a static member's port is shown at its partition until the port is right") {
  Partition blue = make_partition("blue", 0x100);
  blue.members = {{storage(1), kFull, ""}};
  Fixture bed({blue});
  const auto reason = [&] { return bed.registry->partitions.find("blue")->condition.reason; };
  CHECK(bed.see(storage(1)));
  CHECK(reason() == Reason::none);
  // A fault that is not the port's is not reported for the port.
  for (const Reason waiting : {Reason::waiting, Reason::no_master, Reason::misconfigured}) {
    bed.registry->bindings.set_condition(storage(1), {waiting, ""}, bed.now);
    CHECK(reason() == Reason::none);
  }
  bed.registry->bindings.set_condition(storage(1), {Reason::missing_key, "lacks it"}, bed.now);
  CHECK(reason() == Reason::missing_key);
  bed.registry->bindings.set_condition(storage(1), {Reason::capacity, "no free place"}, bed.now);
  CHECK(reason() == Reason::capacity);
  // It is not forgotten after a failed commit, either.
  REQUIRE(bed.registry->partitions.create(make_partition("red", 0x101)));
  bed.store.fail_at(0, FakeStore::Failure::lost);
  CHECK_FALSE(bed.registry->journal.commit(bed.now).status);
  CHECK(reason() == Reason::capacity);
  CHECK(bed.see(storage(1)));
  CHECK(reason() == Reason::none);
}

TEST_CASE("a partition is not gone before it has been swept, whatever has been seen") {
  Partition blue = make_partition("blue", 0x100);
  blue.members = {{storage(1), kFull, ""}};
  Fixture bed({blue});
  REQUIRE(remove(bed, "blue"));
  CHECK(bed.see(storage(1)));
  CHECK(bed.registry->partitions.find("blue"));
  bed.sweep();
  CHECK_FALSE(bed.registry->partitions.find("blue"));
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
  bed.registry->partitions.set_engine_fault({Reason::misconfigured, "the disk is full"});
  CHECK(bed.state("green") == PartitionState::error);
  CHECK(bed.registry->partitions.find("green")->condition.text == "the disk is full");
  CHECK(bed.state("blue") == PartitionState::ready);
  bed.registry->partitions.set_engine_fault({});
  CHECK(bed.state("green") == PartitionState::provisioning);
  bed.registry->partitions.set_engine_fault({Reason::no_master, ""});
  bed.sweep();
  bed.registry->partitions.set_engine_fault({});
  CHECK(bed.state("green") == PartitionState::ready);
}

TEST_CASE("a value that the subnet manager cannot be given is refused, with the reason") {
  Policy rules = policy();
  rules.unsupported = {.both = "is not possible here",
                       .sl = "it is set elsewhere: leave it out",
                       .group = "it is set there: leave it out"};
  Fixture bed(none(), rules);
  Partition both = make_partition("blue", 0x100);
  both.membership = kBoth;
  CHECK(create(bed, both).error().text() ==
        "partition blue: membership \"both\" is not possible here; use limited or full");
  const auto refusal = [&](const auto& change) {
    Partition one = make_partition("blue", 0x100);
    change(one);
    const auto made = create(bed, one);
    return made ? std::string() : made.error().text();
  };
  CHECK(refusal([](Partition& one) { one.sl = 3; }) ==
        "partition blue: sl: 3, and it is set elsewhere: leave it out");
  CHECK(refusal([](Partition& one) { one.mtu = fabric::Mtu::mtu_4096; }) ==
        "partition blue: mtu: 4096, and it is set there: leave it out");
  CHECK(refusal([](Partition& one) { one.rate = fabric::Rate(7); }) ==
        "partition blue: rate: 40, and it is set there: leave it out");
  CHECK(refusal([](Partition& one) { one.sl = 0; }).empty());
}

TEST_CASE("what no fabric could grant is refused, and there are no more partitions than may be") {
  Policy rules = policy();
  rules.limits.partitions = 2;
  rules.limits.members = 1;
  Fixture bed({make_partition("a", 0x100)}, rules);
  CHECK(create(bed, make_partition("Default", 0x101)).error().code() == Code::invalid);
  Partition many = make_partition("b", 0x101);
  many.members = {{storage(1), kFull, ""}, {storage(2), kFull, ""}};
  CHECK(create(bed, many).error().code() == Code::invalid);
  many.members.pop_back();
  CHECK(create(bed, many));
  CHECK(create(bed, make_partition("c", 0x102)).error().code() == Code::busy);
}

TEST_CASE("partitions are listed page by page") {
  Fixture bed({make_partition("a", 0x100), make_partition("b", 0x101), make_partition("c", 0x102)});
  std::string seen;
  fabricapi::PageRequest page{2, ""};
  do {
    const auto listed = bed.registry->partitions.list(page).value();
    CHECK(listed.items.size() <= 2);
    for (const auto& item : listed.items) seen += item.spec.name;
    page.token = listed.next;
  } while (!page.token.empty());
  CHECK(seen == "abc");
}

}  // namespace
}  // namespace ibpod::sm::partitions
