#include "sm/partitions/partition_view.h"

#include "lib/base/join.h"
#include "tests/support/registry_fixture.h"

namespace ibpod::sm::partitions {
namespace {

using namespace test;

const fabric::PartitionDefinition& told(const Registries& registry, const std::string& name) {
  const auto definitions = registry.partitions.view().definitions();
  for (const fabric::PartitionDefinition& definition : *definitions)
    if (definition.name == name) return definition;
  FAIL(name);
  return definitions->front();
}

TEST_CASE("a partition's definition has the fabric's defaults where it sets nothing") {
  Policy rules = policy();
  rules.group.mtu = fabric::Mtu::mtu_4096;
  rules.group.sl = 3;
  rules.ipoib = true;
  Fixture bed({make_partition("plain", 0x100)}, rules);
  CHECK(told(*bed.registry, "plain").group == rules.group);
  CHECK(told(*bed.registry, "plain").ipoib);
  CHECK(bed.registry->partitions.view().definitions()->front() == rules.default_rule);
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
  const auto definitions = bed.registry->partitions.view().definitions();
  CHECK(bed.registry->partitions.view().definitions() == definitions);
  bed.unbind(child("n1", "c", pf(1), {}));
  CHECK(bed.registry->partitions.view().definitions() == definitions);
  CHECK(told(*bed.registry, "blue").members == want);
  CHECK(bed.registry->partitions.view().find("blue")->bindings == 3);
}

TEST_CASE("a fault of a static member's port is shown at its partition until the port is right") {
  Partition blue = make_partition("blue", 0x100);
  blue.members = {{storage(1), kFull, ""}};
  Fixture bed({blue});
  const auto reason = [&] {
    return bed.registry->partitions.view().find("blue")->condition.reason;
  };
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

TEST_CASE("partitions are listed page by page") {
  Fixture bed({make_partition("a", 0x100), make_partition("b", 0x101), make_partition("c", 0x102)});
  std::string seen;
  fabricapi::PageRequest page{2, ""};
  do {
    const auto listed = bed.registry->partitions.view().list(page).value();
    CHECK(listed.items.size() <= 2);
    for (const auto& item : listed.items) seen += item.spec.name;
    page.token = listed.next;
  } while (!page.token.empty());
  CHECK(seen == "abc");
}

fabric::PartitionDefinition definition(const std::string& name, uint16_t pkey) {
  fabric::PartitionDefinition made;
  made.name = name;
  made.pkey = ib::PKey(pkey);
  return made;
}

std::string names(const Definitions& definitions) {
  return join(definitions, " ", &fabric::PartitionDefinition::name);
}

TEST_CASE("the definitions are those of the last version, or of the last that could be read") {
  Fixture bed;
  const PartitionView& view = bed.registry->partitions.view();
  const auto before = view.definitions();
  CHECK(view.definitions() == before);
  bed.create(make_partition("green", 0x102));
  const auto after = view.definitions();
  CHECK(after != before);
  CHECK(names(*after) == "Default blue green red");
  CHECK(names(*before) == "Default blue red");
  REQUIRE(bed.registry->partitions.remove("green"));
  bed.store.fail_at(0, FakeStore::Failure::lost);
  bed.store.unreadable(true);
  CHECK_FALSE(bed.registry->journal.commit(bed.now).status);
  CHECK(view.definitions() == after);
  bed.store.unreadable(false);
  CHECK_FALSE(bed.registry->journal.commit(bed.now).wrote);
  CHECK(names(*view.definitions()) == "Default blue green red");
}

TEST_CASE("a definition is added by name, or replaces the one with its name") {
  const Fixture bed;
  const PartitionView& view = bed.registry->partitions.view();
  CHECK(names(view.definitions_with(definition("a", 0x102))) == "Default a blue red");
  CHECK(names(view.definitions_with(definition("green", 0x102))) == "Default blue green red");
  const Definitions replaced = view.definitions_with(definition("red", 0x102));
  CHECK(names(replaced) == "Default blue red");
  CHECK(replaced.back().pkey == ib::PKey(0x102));
  CHECK(names(view.definitions_without("blue")) == "Default red");
  CHECK(names(view.definitions_without("none")) == "Default blue red");
  CHECK(names(*view.definitions()) == "Default blue red");
}

TEST_CASE("a deletion waits for a sweep, and then for the ports that it names") {
  Partition blue = make_partition("blue", 0x100);
  blue.members = {{storage(1), kFull, ""}};
  Fixture bed({blue});
  const PartitionView& view = bed.registry->partitions.view();
  REQUIRE(bed.registry->partitions.remove("blue"));
  bed.registry->partitions.note_deleted(bed.now);
  CHECK(view.deleted().empty());
  CHECK(view.find("blue")->condition.text == "the subnet manager has not swept without it yet");
  bed.sweep();
  REQUIRE(view.deleted().size() == 1);
  CHECK(view.deleted()[0].name == "blue");
  CHECK(view.deleted()[0].since == bed.now.steady);
  CHECK(view.deleted()[0].ports == std::vector{storage(1)});
  CHECK(view.find("blue")->condition.text ==
        "these ports may still hold its P_Key: " + storage(1).text());
}

}  // namespace
}  // namespace ibpod::sm::partitions
