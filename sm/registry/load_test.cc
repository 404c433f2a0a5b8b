#include "sm/registry/stored.h"
#include "sm/registry/test_registry.h"

namespace ibpod::sm {
namespace {

// Of all kinds, and in every state.
void fill(Bed& bed) {
  Tenancy full = tenancy("full", 0x102, {"team", "*"});
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
  Tenancy automatic = tenancy("automatic", 0);
  automatic.ipoib = false;
  bed.create(automatic);
  Tenancy gone = tenancy("gone", 0x103);
  gone.members = {{storage(3), kFull, ""}};
  bed.create(gone);
  REQUIRE(bed.ledger->declare({tenancy("declared", 0x104)}, bed.now).value().empty());
  bed.bind(request("n1", "a", vf(1), {{"blue", kFull}, {"red", kBoth}, {"full", kLimited}}));
  bed.bind(request("n1", "b", vf(2), {{"blue", kLimited}}));
  bed.bind(request("n1", "c", vf(3), {{"blue", kLimited}}));
  bed.bind(child("n2", "d", pf(2), {{"blue", kLimited}}));
  bed.settle();
  bed.unbind(request("n1", "b", vf(2), {}));
  bed.pass(std::chrono::seconds(1));
  bed.bind(request("n1", "c", vf(3), {{"red", kLimited}}));
  full.members.pop_back();
  REQUIRE(bed.ledger->update(administrator(), full, bed.now));
  REQUIRE(bed.ledger->remove(administrator(), "gone"));
  REQUIRE(bed.ledger->allocate(node("n3"), {"n3", "0000:01:00.0", {0, 1}}));
  REQUIRE(bed.ledger->forget(administrator(), {"n2", true}, bed.now));
  bed.commit();
}

TEST_CASE("what has been promised is there again, to be seen again") {
  Bed bed;
  fill(bed);
  const auto listed = [&] { return bed.ledger->bindings(reader(), {}, {}).value().items; };
  const auto partitions = [&] { return bed.ledger->partitions(reader(), {}).value().items; };
  auto bindings = listed();
  auto tenancies = partitions();
  const auto told = *bed.ledger->partitions();
  std::vector<Expected> expected;
  const std::vector<ib::Guid> guids{vf(1), vf(2), vf(3), pf(2), storage(1), storage(2), storage(3)};
  for (const ib::Guid guid : guids) expected.push_back(bed.ledger->expected(guid));
  bed.start();
  CHECK(*bed.ledger->partitions() == told);
  for (fabric::Binding& binding : bindings) {
    if (binding.state != State::releasing) binding.state = State::requested;
    binding.standing = {Reason::waiting, ""};
    binding.proof = Proof::none;
    binding.enforcement = fabric::Enforcement::unknown;
  }
  CHECK(listed() == bindings);
  for (fabric::TenancyStatus& status : tenancies) {
    if (status.state == TenancyState::deleting) continue;
    status.state = TenancyState::provisioning;
    status.standing = {Reason::waiting, ""};
  }
  CHECK(partitions() == tenancies);
  for (size_t i = 0; i < guids.size(); ++i) {
    CHECK(bed.ledger->expected(guids[i]).keys == expected[i].keys);
    CHECK(bed.ledger->expected(guids[i]).leaving == expected[i].leaving);
    CHECK(bed.ledger->expected(guids[i]).index0 == expected[i].index0);
    CHECK(bed.ledger->unsettled().contains(guids[i]) == (guids[i] != storage(1)));
  }
  CHECK(bed.ledger->node("n2")->forgetting);
  CHECK(bed.ledger->node("n3")->guids == 2);
  bed.commit();
  const auto objects = bed.store.objects;
  bed.settle();
  CHECK_FALSE(bed.ledger->node("n2"));
  CHECK(bed.store.objects != objects);
}

TEST_CASE("after a restart nothing is gone that has not been seen since the first sweep") {
  Bed bed;
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  bed.bind(a);
  bed.settle();
  bed.unbind(a);
  bed.start();
  CHECK(bed.ledger->changed_in(vf(1)) == bed.ledger->version());
  CHECK_FALSE(bed.ledger->note_clean(vf(1), 0, Proof::port, bed.now));
  CHECK(bed.state(a) == State::releasing);
}

TEST_CASE("what has been found out is not written") {
  Bed bed;
  bed.bind(request("n1", "a", vf(1), {{"blue", kLimited}}));
  const size_t commits = bed.store.commits();
  bed.settle();
  bed.ledger->note_trouble(vf(1), {Reason::timeout, ""}, bed.now);
  bed.commit();
  CHECK(bed.store.commits() == commits);
}

TEST_CASE("a live partition's P_Key lies in some range, or there is no start") {
  Bed bed;
  bed.rules.pkeys = PKeyPool::make({{0x100, 0x100, Use::by_request}}).value();
  const auto load = [&] { return Ledger::load(bed.store, bed.rules, bed.now); };
  REQUIRE_FALSE(load());
  CHECK(load().error().code() == Code::invalid);
  CHECK(load().error().text().find("0x0101") != std::string::npos);
  REQUIRE(bed.ledger->remove(administrator(), "red"));
  bed.commit();
  CHECK(load());
}

TEST_CASE("a policy that gives one GUID to two is refused") {
  FakeStore store;
  Policy rules = policy();
  rules.nodes["n1"].guids.insert(pf(2));
  CHECK(Ledger::load(store, rules, {}).error().code() == Code::invalid);
  rules = policy();
  rules.nodes["n1"].pfs.insert(ib::Guid(0));
  CHECK_FALSE(Ledger::load(store, rules, {}));
  rules = policy();
  rules.lease = Duration(0);
  CHECK_FALSE(Ledger::load(store, rules, {}));
}

// What is refused leaves the store alone, and says which value it is.
void check_refused(Bed& bed, const std::string& name) {
  const auto objects = bed.store.objects;
  const auto loaded = Ledger::load(bed.store, bed.rules, bed.now);
  CAPTURE(name);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().code() == Code::invalid);
  CAPTURE(loaded.error().text());
  CHECK(loaded.error().text().find(name) != std::string::npos);
  CHECK(bed.store.objects == objects);
}

TEST_CASE("a value that is not as it was written is refused, naming it") {
  for (const Kind kind : {Kind::partition, Kind::binding, Kind::node, Kind::guid, Kind::range}) {
    Bed whole;
    fill(whole);
    REQUIRE_FALSE(whole.store.objects[kind].empty());
    for (const auto& [key, value] : whole.store.objects[kind]) {
      Bed bed;
      bed.store.objects = whole.store.objects;
      bed.store.objects[kind][key] = "\xff\xff";
      check_refused(bed, key);
      // Another one's.
      bed.store.objects = whole.store.objects;
      bed.store.objects[kind].erase(key);
      bed.store.objects[kind]["?"] = value;
      if (kind != Kind::node) check_refused(bed, "?");
    }
  }
}

TEST_CASE("values that do not fit each other are refused") {
  Bed whole;
  fill(whole);
  const auto refused = [&](const auto& change, const std::string& name) {
    Bed bed;
    bed.store.objects = whole.store.objects;
    change(bed.store.objects);
    check_refused(bed, name);
  };
  using Objects = std::map<Kind, std::map<std::string, std::string>>;
  const auto with_binding = [&](const std::string& key, const auto& change) {
    return [&, key](Objects& objects) {
      const StoredBinding stored = binding_from(objects[Kind::binding].at(key)).value();
      Entry entry;
      entry.binding = stored.binding;
      entry.former = stored.former;
      change(entry);
      objects[Kind::binding][key] = to_bytes(entry);
    };
  };
  refused([](Objects& o) { o[Kind::partition].erase("blue"); }, "blue");
  refused(with_binding("n1/a/net1", [](Entry& e) { e.binding.guid = vf(2); }), "n1/");
  refused(with_binding("n1/a/net1", [](Entry& e) { e.binding.guid = ib::Guid(0); }), "n1/a");
  refused(with_binding("n1/a/net1",
                       [](Entry& e) {
                         e.binding.held = {{"automatic", kFull}};
                       }),
          "n1/a");
  refused(with_binding("n1/a/net1",
                       [](Entry& e) {
                         e.binding.shares = {{"gone", kFull}};
                       }),
          "n1/a");
  refused(with_binding("n1/b/net1", [](Entry& e) { e.binding.held = e.binding.shares; }), "n1/b");
  refused(with_binding("n1/a/net1",
                       [](Entry& e) {
                         e.binding.shares = e.binding.held = {{"full", kLimited}};
                         e.binding.guid = storage(1);
                       }),
          "n1/a");
  refused([](Objects& o) { o[Kind::partition]["x"] = o[Kind::partition]["blue"]; }, "x");
  refused(
      [](Objects& o) {
        Tenant same;
        same.tenancy = tenancy("same", 0x100);
        o[Kind::partition]["same"] = to_bytes(same);
      },
      "same");
  refused([](Objects& o) { o[Kind::guid][vf(0x1005).text()] = o[Kind::guid].begin()->second; },
          vf(0x1005).text());
  refused(
      [](Objects& o) {
        NodeEntry node;
        node.pfs = {pf(11)};
        o[Kind::node]["x"] = o[Kind::node]["y"] = to_bytes(node);
      },
      "y");
  refused([](Objects& o) { o[Kind::range]["pkeys"] = last_to_bytes(0x8000); }, "pkeys");
}

}  // namespace
}  // namespace ibpod::sm
