#include "sm/state/stored.h"
#include "tests/support/registry_fixture.h"

#include <functional>

namespace ibpod::sm::state {
namespace {

using namespace test;

// Adds bindings of all kinds and in every state.
void fill(Fixture& bed) {
  Partition full = make_partition("full", 0x102, {"team", "*"});
  full.membership = kFull;
  full.index0 = true;
  full.ipoib = true;
  full.mtu = fabric::Mtu::mtu_4096;
  full.rate = fabric::kLastRate;
  full.sl = 15;
  full.proof = Proof::port;
  full.nodes = {"n*", "other.node"};
  full.members = {{storage(1), kBoth, "a filer"}, {storage(2), kLimited, ""}};
  bed.create(full);
  Partition automatic = make_partition("automatic", 0);
  automatic.ipoib = false;
  bed.create(automatic);
  Partition gone = make_partition("gone", 0x103);
  gone.members = {{storage(3), kFull, ""}};
  bed.create(gone);
  REQUIRE(bed.registry->partitions.declarations()
              .declare({make_partition("declared", 0x104)}, bed.now)
              .value()
              .empty());
  bed.bind(request("n1", "a", vf(1), {{"blue", kFull}, {"red", kBoth}, {"full", kLimited}}));
  bed.bind(request("n1", "b", vf(2), {{"blue", kLimited}}));
  bed.bind(request("n1", "c", vf(3), {{"blue", kLimited}}));
  bed.bind(child("n2", "d", pf(2), {{"blue", kLimited}}));
  bed.settle();
  bed.unbind(request("n1", "b", vf(2), {}));
  bed.advance(std::chrono::seconds(1));
  bed.bind(request("n1", "c", vf(3), {{"red", kLimited}}));
  full.members.pop_back();
  REQUIRE(bed.registry->partitions.update(full, bed.now));
  REQUIRE(bed.registry->partitions.remove("gone"));
  REQUIRE(bed.registry->nodes.allocate({"n3", "0000:01:00.0", {0, 1}}));
  REQUIRE(bed.registry->nodes.forget({"n2", true}, bed.now));
  bed.commit();
}

TEST_CASE("stored bindings are loaded again, and must be verified again") {
  Fixture bed;
  fill(bed);
  const auto listed = [&] { return bed.registry->bindings.list({}, {}).value().items; };
  const auto partitions = [&] { return bed.registry->partitions.view().list({}).value().items; };
  auto bindings = listed();
  auto listed_partitions = partitions();
  const auto rendered = *bed.registry->partitions.view().definitions();
  std::vector<ExpectedTable> expected;
  const std::vector<ib::Guid> guids{vf(1), vf(2), vf(3), pf(2), storage(1), storage(2), storage(3)};
  for (const ib::Guid guid : guids) expected.push_back(expected_table(*bed.registry, guid));
  bed.start();
  CHECK(*bed.registry->partitions.view().definitions() == rendered);
  for (fabric::Binding& binding : bindings) {
    if (binding.state != BindingState::releasing) binding.state = BindingState::requested;
    binding.condition = {Reason::waiting, ""};
    binding.proof = Proof::none;
    binding.enforcement = fabric::Enforcement::unknown;
  }
  CHECK(listed() == bindings);
  for (fabric::PartitionStatus& status : listed_partitions) {
    if (status.state == PartitionState::deleting) continue;
    status.state = PartitionState::provisioning;
    status.condition = {Reason::waiting, ""};
  }
  CHECK(partitions() == listed_partitions);
  for (size_t i = 0; i < guids.size(); ++i) {
    CHECK(expected_table(*bed.registry, guids[i]).keys == expected[i].keys);
    CHECK(expected_table(*bed.registry, guids[i]).pending_removal == expected[i].pending_removal);
    CHECK(expected_table(*bed.registry, guids[i]).index0 == expected[i].index0);
    CHECK(bed.registry->bindings.unsettled().contains(guids[i]) == (guids[i] != storage(1)));
  }
  CHECK(bed.registry->nodes.find("n2")->forgetting());
  CHECK(bed.registry->nodes.find("n3")->guids() == 2);
  bed.commit();
  const auto objects = bed.store.objects;
  bed.settle();
  CHECK_FALSE(bed.registry->nodes.find("n2"));
  CHECK(bed.store.objects != objects);
}

TEST_CASE("after a restart nothing is gone that has not been seen since the first sweep") {
  Fixture bed;
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  bed.bind(a);
  bed.settle();
  bed.unbind(a);
  bed.start();
  CHECK(bed.registry->bindings.changed_in(vf(1)) == bed.registry->journal.version());
  CHECK_FALSE(bed.registry->bindings.note_clean(vf(1), 0, Proof::port, bed.now));
  CHECK(bed.state(a) == BindingState::releasing);
}

TEST_CASE("what has been found out is not written") {
  Fixture bed;
  bed.bind(request("n1", "a", vf(1), {{"blue", kLimited}}));
  const size_t commits = bed.store.commits();
  bed.settle();
  bed.registry->bindings.set_condition(vf(1), {Reason::timeout, ""}, bed.now);
  bed.commit();
  CHECK(bed.store.commits() == commits);
}

TEST_CASE("a live partition's P_Key lies in some range, or there is no start") {
  Fixture bed;
  bed.settings.pkeys = pool::PKeyPool::make({{0x100, 0x100, pool::RangeUse::by_request}}).value();
  const auto load = [&] { return Registries::load(bed.store, bed.settings, bed.now); };
  REQUIRE_FALSE(load());
  CHECK(load().error().code() == Code::invalid);
  CHECK(load().error().text().find("0x0101") != std::string::npos);
  REQUIRE(bed.registry->partitions.remove("red"));
  bed.commit();
  CHECK(load());
}

TEST_CASE("a policy that gives one GUID to two is refused") {
  FakeStore store;
  Policy rules = policy();
  rules.nodes["n1"].guids.insert(pf(2));
  CHECK(Registries::load(store, rules, {}).error().code() == Code::invalid);
  rules = policy();
  rules.nodes["n1"].pfs.insert(ib::Guid(0));
  CHECK_FALSE(Registries::load(store, rules, {}));
  rules = policy();
  rules.lease = Duration(0);
  CHECK_FALSE(Registries::load(store, rules, {}));
}

// A refused store stays unchanged, and the error names the value.
void check_refused(Fixture& bed, const std::string& name) {
  const auto objects = bed.store.objects;
  const auto loaded = Registries::load(bed.store, bed.settings, bed.now);
  CAPTURE(name);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().code() == Code::invalid);
  CAPTURE(loaded.error().text());
  CHECK(loaded.error().text().find(name) != std::string::npos);
  CHECK(bed.store.objects == objects);
}

TEST_CASE("a value that is not as it was written is refused, naming it") {
  for (const state::RecordKind kind :
       {state::RecordKind::partition, state::RecordKind::binding, state::RecordKind::node,
        state::RecordKind::guid, state::RecordKind::range}) {
    Fixture whole;
    fill(whole);
    REQUIRE_FALSE(whole.store.objects[kind].empty());
    for (const auto& [key, value] : whole.store.objects[kind]) {
      Fixture bed;
      bed.store.objects = whole.store.objects;
      bed.store.objects[kind][key] = "\xff\xff";
      check_refused(bed, key);
      // The value of another record.
      bed.store.objects = whole.store.objects;
      bed.store.objects[kind].erase(key);
      bed.store.objects[kind]["?"] = value;
      if (kind != state::RecordKind::node) check_refused(bed, "?");
    }
  }
}

using Objects = std::map<state::RecordKind, std::map<std::string, std::string>>;

// The records of a filled registry with one change.
void check_change_refused(const std::function<void(Objects&)>& change, const std::string& name) {
  Fixture whole;
  fill(whole);
  Fixture bed;
  bed.store.objects = whole.store.objects;
  change(bed.store.objects);
  check_refused(bed, name);
}

TEST_CASE("bindings that do not fit the other records are refused") {
  const auto& refused = check_change_refused;
  const auto with_binding = [&](const std::string& key, const auto& change) {
    return [&, key](Objects& objects) {
      const StoredBinding stored =
          binding_from(objects[state::RecordKind::binding].at(key)).value();
      BindingRecord entry;
      entry.binding = stored.binding;
      entry.pending_removal = stored.pending_removal;
      change(entry);
      objects[state::RecordKind::binding][key] = to_bytes(entry);
    };
  };
  refused([](Objects& o) { o[state::RecordKind::partition].erase("blue"); }, "blue");
  refused(with_binding("n1/a/net1", [](BindingRecord& e) { e.binding.guid = vf(2); }), "n1/");
  refused(with_binding("n1/a/net1", [](BindingRecord& e) { e.binding.guid = ib::Guid(0); }),
          "n1/a");
  refused(with_binding("n1/a/net1",
                       [](BindingRecord& e) {
                         e.binding.applied = {{"automatic", kFull}};
                       }),
          "n1/a");
  refused(with_binding("n1/a/net1",
                       [](BindingRecord& e) {
                         e.binding.desired = {{"gone", kFull}};
                       }),
          "n1/a");
  refused(
      with_binding("n1/b/net1", [](BindingRecord& e) { e.binding.applied = e.binding.desired; }),
      "n1/b");
  refused(with_binding("n1/a/net1",
                       [](BindingRecord& e) {
                         e.binding.desired = e.binding.applied = {{"full", kLimited}};
                         e.binding.guid = storage(1);
                       }),
          "n1/a");
}

TEST_CASE("records that do not fit each other are refused") {
  const auto& refused = check_change_refused;
  refused(
      [](Objects& o) {
        o[state::RecordKind::partition]["x"] = o[state::RecordKind::partition]["blue"];
      },
      "x");
  refused(
      [](Objects& o) {
        PartitionRecord same;
        same.partition = make_partition("same", 0x100);
        o[state::RecordKind::partition]["same"] = to_bytes(same);
      },
      "same");
  refused(
      [](Objects& o) {
        o[state::RecordKind::guid][vf(0x1005).text()] = o[state::RecordKind::guid].begin()->second;
      },
      vf(0x1005).text());
  refused(
      [](Objects& o) {
        NodeRecord node;
        node.pfs = {pf(11)};
        o[state::RecordKind::node]["x"] = o[state::RecordKind::node]["y"] = to_bytes(node);
      },
      "y");
  refused([](Objects& o) { o[state::RecordKind::range]["pkeys"] = last_to_bytes(0x8000); },
          "pkeys");
}

}  // namespace
}  // namespace ibpod::sm::state
