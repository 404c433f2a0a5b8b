// A state file of the first version (tests/data/first_version) is read with all its bindings and
// partitions.
#include "lib/base/join.h"
#include "sm/state/sqlite_store.h"
#include "tests/support/registry_fixture.h"
#include "tests/support/temp_folder.h"

#include <filesystem>

namespace ibpod::sm::state {
namespace {

using namespace test;

const Path kKept = "tests/data/first_version/sm/promises.db";

const fabric::WallTime kAsked{std::chrono::milliseconds(1'790'000'000'000)};
const fabric::WallTime kChanged = kAsked + std::chrono::seconds(5);

struct Kept {
  TempFolder folder;
  Path file = folder.path() / "promises.db";
  Now now{std::chrono::steady_clock::time_point(std::chrono::hours(1)), kChanged};
  std::unique_ptr<state::SqliteStore> store;
  std::unique_ptr<Registries> registry;

  Kept() {
    std::filesystem::copy(kKept, file);
    store = state::SqliteStore::open(file).value();
    Policy rules = policy();
    rules.pfs_by_first_claim = true;
    registry = Registries::load(*store, rules, now).value();
  }
  fabric::Binding binding(const std::string& node, const std::string& container) const {
    return registry->bindings.binding({node, container, "net1"}).value();
  }
  std::string keys(ib::Guid guid) const { return text(expected_table(*registry, guid).keys); }
  std::string leaving(ib::Guid guid) const {
    return text(expected_table(*registry, guid).pending_removal);
  }
  static std::string text(const std::vector<ib::PKey>& keys) {
    return join(keys, " ", &ib::PKey::text);
  }
};

TEST_CASE("the first version's partitions") {
  const Kept kept;
  const auto listed = kept.registry->partitions.view().list({});
  REQUIRE(listed);
  CHECK(listed->items.size() == 4);
  Partition blue = make_partition("blue", 0x100, {"team", "other"});
  blue.index0 = true;
  blue.ipoib = true;
  blue.mtu = fabric::Mtu::mtu_4096;
  blue.rate = fabric::Rate(7);
  blue.sl = 2;
  blue.proof = Proof::port;
  blue.members = {{storage(1), kFull, "storage 1"}, {storage(2), kLimited, ""}};
  CHECK(kept.registry->partitions.view().find("blue")->spec == blue);
  CHECK(kept.registry->partitions.view().find("blue")->bindings == 2);  // including the leaving one
  Partition red = make_partition("red", 0x10);
  red.membership = kLimited;
  CHECK(kept.registry->partitions.view().find("red")->spec == red);
  CHECK_FALSE(kept.registry->partitions.view().find("red")->declared);
  CHECK(kept.registry->partitions.view().find("yellow")->spec == make_partition("yellow", 0x101));
  CHECK(kept.registry->partitions.view().find("yellow")->declared);
  CHECK(kept.registry->partitions.view().find("green")->state == PartitionState::deleting);
  CHECK(kept.leaving(storage(3)) == "0x0102 0x8102");
  CHECK(kept.keys(storage(1)) == "0x8100");
}

TEST_CASE("the first version's bindings") {
  const Kept kept;
  CHECK(kept.registry->journal.records().bindings.size() == 5);
  const fabric::Binding a = kept.binding("n1", "a");
  CHECK(a.guid == vf(1));
  CHECK(a.kind == fabric::Kind::vf);
  CHECK(a.device == "0000:01:00.1");
  CHECK(a.pod == fabric::Pod{"team", "pod-a", "uid-a"});
  CHECK(a.desired == Memberships{{"blue", kFull}, {"red", kLimited}});
  CHECK(a.applied == a.desired);
  CHECK(a.generation == 1);
  CHECK(a.state == BindingState::requested);  // to be verified again
  CHECK(a.asked == kAsked);
  CHECK(kept.keys(vf(1)) == "0x0010 0x8100");
  // This binding is moving from one partition to another.
  const fabric::Binding b = kept.binding("n1", "b");
  CHECK(b.desired == Memberships{{"red", kLimited}});
  CHECK(b.applied.empty());
  CHECK(b.generation == 2);
  CHECK(b.changed == kChanged);
  CHECK(kept.leaving(vf(2)) == "0x8100");
  const fabric::Binding c = kept.binding("n2", "c");
  CHECK(c.kind == fabric::Kind::child);
  CHECK(c.guid == pf(20));
  CHECK(kept.keys(pf(20)) == "0x0010");
  CHECK(kept.binding("n2", "d").state == BindingState::releasing);
  CHECK(kept.leaving(vf(11)) == "0x8101");
  CHECK(kept.binding("n4", "e").state == BindingState::releasing);
}

TEST_CASE("the first version's leases are whole, and renewed by their node") {
  const Kept kept;
  CHECK(kept.registry->bindings.next_expiry());
  const auto answer = kept.registry->nodes.sync({"n1", {{"a", "net1"}}}, kept.now).value();
  REQUIRE(answer.bindings.size() == 1);
  CHECK(answer.bindings.front().attachment.container == "a");
  REQUIRE(answer.not_named.size() == 1);
  CHECK(answer.not_named.front().attachment.container == "b");
}

TEST_CASE("the first version's nodes, and the GUIDs that it gave them") {
  const Kept kept;
  CHECK(kept.registry->nodes.find("n4")->forgetting());
  CHECK(kept.registry->nodes.find("n3")->guids() == 2);
  using fabricapi::AllocatedGuid;
  const auto given = [&](const char* name, std::vector<uint32_t> vfs) {
    return kept.registry->nodes.allocate({name, "0000:01:00.0", std::move(vfs)}).value();
  };
  CHECK(given("n3", {0, 1}) == std::vector<AllocatedGuid>{{0, vf(0x1000)}, {1, vf(0x1001)}});
  CHECK(given("n1", {0}) == std::vector<AllocatedGuid>{{0, vf(0x1002)}});
  // The PF belongs to the node that has bound it first.
  const auto other = kept.registry->bindings.bind(
      node("n1"), child("n1", "x", pf(20), {{"red", kLimited}}), absent(), kept.now);
  REQUIRE_FALSE(other);
  CHECK(other.error().code() == Code::denied);
}

}  // namespace
}  // namespace ibpod::sm::state
