#include "tests/support/registry_fixture.h"

namespace ibpod::sm::bindings {
namespace {

using namespace test;

TEST_CASE("a binding is requested, written, verified, releasing, and gone") {
  Fixture bed;
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kFull}, {"red", kLimited}});
  const fabric::Binding bound = bed.bind(a);
  CHECK(bound.state == BindingState::requested);
  CHECK(bound.generation == 1);
  CHECK(bound.desired == Memberships{{"blue", kFull}, {"red", kLimited}});
  CHECK(bound.applied == bound.desired);
  CHECK(bound.asked == bed.now.wall);
  CHECK(bed.keys(vf(1)) == "0x0101 0x8100");
  CHECK(bed.registry->bindings.unsettled() == std::set{vf(1)});
  bed.registry->bindings.note_written(bed.registry->journal.version(), bed.now);
  CHECK(bed.state(a) == BindingState::written);
  CHECK(bed.see(vf(1), Proof::node));
  CHECK(bed.state(a) == BindingState::verified);
  CHECK(bed.binding(a)->proof == Proof::node);
  CHECK(bed.binding(a)->enforcement == fabric::Enforcement::hca);
  CHECK(bed.binding(a)->condition == fabric::Condition{});
  CHECK(bed.registry->bindings.unsettled().empty());

  CHECK(bed.unbind(a).state == BindingState::releasing);
  CHECK(bed.keys(vf(1)).empty());
  CHECK(expected_table(*bed.registry, vf(1)).pending_removal ==
        std::vector{ib::PKey(0x101), ib::PKey(0x8100)});
  CHECK(bed.binding(a)->desired == bound.desired);
  CHECK(bed.refusal(a).code() == Code::busy);
  CHECK(bed.unbind(a).state == BindingState::releasing);
  bed.settle();
  CHECK(bed.state(a) == BindingState::released);
  CHECK(bed.unbind(a).state == BindingState::released);
  CHECK(bed.bind(a).generation == 1);
}

TEST_CASE("what was seen before the latest change of a port means nothing") {
  Fixture bed;
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  const uint64_t before = bed.registry->journal.version();
  bed.bind(a);
  const uint64_t since = bed.registry->bindings.changed_in(vf(1));
  CHECK(since > before);
  bed.registry->bindings.note_written(before, bed.now);
  CHECK(bed.state(a) == BindingState::requested);
  CHECK_FALSE(bed.registry->bindings.note_verified(vf(1), before, Proof::port, {}, bed.now));
  CHECK(bed.state(a) == BindingState::requested);
  // Changes of other ports do not count.
  bed.bind(request("n1", "b", vf(2), {{"blue", kLimited}}));
  CHECK(bed.registry->bindings.changed_in(vf(1)) == since);
  CHECK(bed.registry->bindings.note_verified(vf(1), since, Proof::port, {}, bed.now));
  CHECK(bed.state(a) == BindingState::verified);
  bed.unbind(a);
  CHECK_FALSE(bed.registry->bindings.note_verified(vf(1), since, Proof::port, {}, bed.now));
  CHECK_FALSE(bed.registry->bindings.note_clean(vf(1), since, Proof::port, bed.now));
  CHECK(bed.state(a) == BindingState::releasing);
  CHECK_FALSE(bed.registry->bindings.note_verified(vf(3), bed.registry->journal.version(),
                                                   Proof::port, {}, bed.now));
}

TEST_CASE("the same request again is the same binding, and costs no write") {
  Partition limited = make_partition("blue", 0x100);
  limited.membership = kLimited;
  Fixture bed({limited, make_partition("red", 0x101)});
  BindRequest a = request("n1", "a", vf(1), {{"blue", {}}, {"red", kFull}});
  bed.bind(a);
  bed.settle();
  const auto verified = bed.binding(a);
  const size_t commits = bed.store.commits();
  const uint64_t version = bed.registry->journal.version();
  std::swap(a.partitions[0], a.partitions[1]);
  CHECK(bed.bind(a) == verified);
  // The partition's membership has changed since this binding.
  Partition blue = make_partition("blue", 0);
  blue.membership = kFull;
  REQUIRE(bed.registry->partitions.update(blue, bed.now));
  CHECK(bed.bind(a) == verified);
  CHECK(bed.store.commits() == commits + 1);
  CHECK(bed.registry->journal.version() == version);
}

TEST_CASE("an attachment is bound with one port, kind, device and pod") {
  Fixture bed;
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  bed.bind(a);
  std::vector<BindRequest> others(4, a);
  others[0].guid = vf(2);
  others[1].kind = fabric::Kind::child;
  others[1].guid = vf(1);
  others[2].device = "0000:01:00.2";
  others[3].pod.name_space = "other";
  for (const BindRequest& other : others) CHECK(bed.refusal(other).code() == Code::exists);
  CHECK(bed.refusal(others[0]).text() ==
        "bind n1/a/net1: it is already bound with another port, 02:00:00:00:00:00:00:01; unbind it "
        "first");
}

TEST_CASE("new keys are published at once if none is lost") {
  Fixture bed;
  bed.bind(request("n1", "a", vf(1), {{"blue", kLimited}}));
  bed.settle();
  const auto both = bed.bind(request("n1", "a", vf(1), {{"blue", kLimited}, {"red", kLimited}}));
  CHECK(both.applied == both.desired);
  CHECK(both.generation == 2);
  CHECK(both.state == BindingState::requested);
  CHECK(both.proof == Proof::none);
}

TEST_CASE("what is lost has to be gone before anything is gained") {
  struct {
    BindRequest::PartitionRequest before, after;
    const char *meanwhile, *then;
  } const cases[] = {
      {{"blue", kFull}, {"red", kFull}, "", "0x8101"},
      {{"blue", kLimited}, {"blue", kFull}, "", "0x8100"},
      {{"blue", kFull}, {"blue", kBoth}, "", "0x0100 0x8100"},
  };
  for (const auto& change : cases) {
    Fixture bed({make_partition("blue", 0x100), make_partition("red", 0x101),
                 make_partition("always", 0x102)});
    const auto asked = [&](const BindRequest::PartitionRequest& wish) {
      return request("n1", "a", vf(1), {{"always", kFull}, wish});
    };
    bed.bind(asked(change.before));
    bed.settle();
    const std::string always = "0x8102";
    const auto changed = bed.bind(asked(change.after));
    CHECK(changed.applied == Memberships{{"always", kFull}});
    CHECK(bed.keys(vf(1)) == always);
    CHECK_FALSE(expected_table(*bed.registry, vf(1)).pending_removal.empty());
    bed.sweep();
    CHECK(bed.keys(vf(1)) == always);
    CHECK(bed.see(vf(1)));
    CHECK(bed.state(asked(change.after)) == BindingState::requested);
    CHECK(bed.keys(vf(1)).find(change.then) != std::string::npos);
    CHECK(expected_table(*bed.registry, vf(1)).pending_removal.empty());
    // The change has not been observed yet; earlier observations do not count.
    CHECK(bed.registry->bindings.unsettled().contains(vf(1)));
    bed.settle();
    CHECK(bed.state(asked(change.after)) == BindingState::verified);
  }
}

TEST_CASE("while something is being lost nothing is gained by another change, or by a restart") {
  Fixture bed({make_partition("blue", 0x100), make_partition("red", 0x101),
               make_partition("green", 0x102)});
  const auto asked = [&](const std::string& partition) {
    return request("n1", "a", vf(1), {{partition, kFull}});
  };
  bed.bind(asked("blue"));
  bed.settle();
  bed.bind(asked("red"));
  bed.bind(asked("green"));
  CHECK(bed.keys(vf(1)).empty());
  bed.start();
  CHECK(bed.keys(vf(1)).empty());
  bed.bind(asked("blue"));
  CHECK(bed.keys(vf(1)).empty());
  CHECK(expected_table(*bed.registry, vf(1)).pending_removal == std::vector{ib::PKey(0x8100)});
  CHECK(bed.registry->partitions.remove("blue").error().code() == Code::busy);
  bed.settle();
  CHECK(bed.keys(vf(1)) == "0x8100");
  // The verified removal is durable.
  bed.start();
  CHECK(bed.keys(vf(1)) == "0x8100");
}

TEST_CASE("a key that is leaving keeps its partition from being deleted") {
  Fixture bed;
  bed.bind(request("n1", "a", vf(1), {{"blue", kLimited}}));
  bed.settle();
  bed.bind(request("n1", "a", vf(1), {{"red", kLimited}}));
  const auto refused = bed.registry->partitions.remove("blue");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::busy);
  bed.settle();
  CHECK(bed.registry->partitions.remove("blue"));
}

TEST_CASE("a VF has one attachment, and others learn of it what is theirs") {
  Fixture bed;
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  bed.bind(a);
  const BindRequest b = request("n1", "b", vf(1), {{"blue", kLimited}});
  CHECK(bed.refusal(b).code() == Code::busy);
  CHECK(bed.refusal(b).text() ==
        "bind n1/b/net1: port 02:00:00:00:00:00:00:01 is bound to n1/a/net1 of pod team/pod-a, "
        "which is requested");
  // The administrator assigns the same GUID to another node.
  bed.settings.nodes["n2"].guids.insert(vf(1));
  bed.settings.nodes["n1"].guids.erase(vf(1));
  bed.start();
  const BindRequest c = request("n2", "c", vf(1), {{"blue", kLimited}});
  CHECK(bed.refusal(c).text() ==
        "bind n2/c/net1: port 02:00:00:00:00:00:00:01 is bound to a pod of another node");
  const Error error = bed.registry->bindings.bind(administrator(), c, absent(), bed.now).error();
  CHECK(error.text().find("n1/a/net1 of pod team/pod-a") != std::string::npos);
  bed.unbind(a);
  CHECK(bed.refusal(c).code() == Code::busy);
  bed.settle();
  bed.bind(c);
  CHECK(bed.keys(vf(1)) == "0x0100");
}

TEST_CASE("children of a port share it: a key leaves with the last one") {
  Fixture bed;
  const BindRequest a = child("n1", "a", pf(1), {{"blue", kFull}});
  const BindRequest b = child("n1", "b", pf(1), {{"blue", kFull}, {"red", kLimited}});
  bed.bind(a);
  bed.bind(b);
  CHECK(bed.keys(pf(1)) == "0x0101 0x8100");
  bed.settle();
  bed.unbind(b);
  CHECK(bed.keys(pf(1)) == "0x8100");
  CHECK(expected_table(*bed.registry, pf(1)).pending_removal == std::vector{ib::PKey(0x101)});
  bed.settle();
  CHECK(bed.state(b) == BindingState::released);
  CHECK(bed.state(a) == BindingState::verified);
  bed.unbind(a);
  CHECK(bed.keys(pf(1)).empty());
}

TEST_CASE("a child that needs nothing new is written and verified, too") {
  Fixture bed;
  bed.bind(child("n1", "a", pf(1), {{"blue", kFull}}));
  bed.settle();
  const BindRequest b = child("n1", "b", pf(1), {{"blue", kFull}});
  const uint64_t version = bed.registry->journal.version();
  bed.bind(b);
  CHECK(bed.registry->journal.version() == version);
  bed.registry->bindings.note_written(version, bed.now);
  CHECK(bed.state(b) == BindingState::written);
  CHECK(bed.see(pf(1)));
  CHECK(bed.state(b) == BindingState::verified);
}

TEST_CASE("a port is in a partition in one way") {
  Fixture bed;
  bed.bind(child("n1", "a", pf(1), {{"blue", kFull}}));
  const BindRequest b = child("n1", "b", pf(1), {{"blue", kLimited}});
  CHECK(bed.refusal(b).code() == Code::busy);
  CHECK(bed.refusal(b).text() ==
        "bind n1/b/net1: port 00:02:c9:03:00:00:00:01: partition blue: membership limited "
        "requested, but the binding of n1/a/net1 has full");
  Partition red = make_partition("red", 0);
  red.members = {{pf(1), kFull, ""}};
  REQUIRE(bed.registry->partitions.update(red, bed.now));
  CHECK(bed.refusal(child("n1", "b", pf(1), {{"red", kLimited}})).code() == Code::invalid);
  bed.bind(child("n1", "b", pf(1), {{"red", kFull}}));
  CHECK(bed.refusal(child("n1", "b", pf(1), {{"blue", kLimited}})).code() == Code::busy);
  red.members[0].membership = kLimited;
  const auto refused = bed.registry->partitions.update(red, bed.now);
  CHECK(refused.error().code() == Code::busy);
  // A child's port must be a PF: a VF could end before its children.
  CHECK(bed.refusal(child("n1", "c", vf(1), {{"red", kLimited}})).code() == Code::denied);
  const auto mixed = bed.registry->bindings.bind(
      administrator(), request("n1", "c", pf(1), {{"blue", kFull}}), absent(), bed.now);
  CHECK(mixed.error().code() == Code::busy);
}

TEST_CASE("one partition has index 0 of a port's table") {
  Partition first = make_partition("first", 0x110), second = make_partition("second", 0x111);
  first.index0 = second.index0 = true;
  Fixture bed({first, second, make_partition("blue", 0x100)});
  const Error two =
      bed.refusal(request("n1", "a", vf(1), {{"first", kLimited}, {"second", kLimited}}));
  CHECK(two.code() == Code::invalid);
  CHECK(two.text().find("first and second") != std::string::npos);
  const BindRequest a = request("n1", "a", vf(1), {{"first", kLimited}, {"blue", kLimited}});
  bed.bind(a);
  CHECK(expected_table(*bed.registry, vf(1)).index0 == ib::PKey(0x110));
  second.members = {{vf(1), kLimited, ""}};
  CHECK(bed.registry->partitions.update(second, bed.now).error().code() == Code::busy);
  Partition blue = make_partition("blue", 0x100);
  blue.index0 = true;
  CHECK(bed.registry->partitions.update(blue, bed.now).error().code() == Code::busy);
  bed.unbind(a);
  bed.settle();
  REQUIRE(bed.registry->partitions.update(second, bed.now));
  CHECK(bed.refusal(a).code() == Code::busy);
  // The port moves from one partition to the other: its own membership is no conflict.
  bed.bind(request("n2", "a", vf(11), {{"first", kLimited}}));
  bed.settle();
  bed.bind(request("n2", "a", vf(11), {{"second", kLimited}}));
  bed.settle();
  CHECK(expected_table(*bed.registry, vf(11)).index0 == ib::PKey(0x111));
  // The key moves to another index, which must be verified, too.
  const uint64_t version = bed.registry->bindings.changed_in(vf(11));
  second.index0 = false;
  second.members.clear();
  REQUIRE(bed.registry->partitions.update(second, bed.now));
  CHECK(bed.registry->bindings.changed_in(vf(11)) > version);
}

// Children are in a partition that the interface of their PF is not in.
TEST_CASE("children leave index 0 to the interface that they are on") {
  Partition first = make_partition("first", 0x110), second = make_partition("second", 0x111);
  first.index0 = second.index0 = true;
  Fixture bed({first, second, make_partition("blue", 0x100)});
  const auto members = [&](const std::string& name) {
    const auto all = bed.registry->partitions.view().definitions();
    return std::find_if(all->begin(), all->end(), [&](const auto& one) { return one.name == name; })
        ->members;
  };
  const auto index0 = [&] { return expected_table(*bed.registry, pf(1)).index0; };
  bed.bind(child("n1", "a", pf(1), {{"first", kLimited}}));
  bed.bind(child("n1", "b", pf(1), {{"second", kLimited}}));
  CHECK_FALSE(index0());
  CHECK(expected_table(*bed.registry, pf(1)).keys == std::vector{ib::PKey(0x110), ib::PKey(0x111)});
  bed.bind(request("n1", "c", vf(1), {{"first", kLimited}}));
  CHECK(members("first") ==
        std::vector<fabric::Member>{{vf(1), kLimited, false}, {pf(1), kLimited, true}});
  // Also if the partition requests index 0 later.
  bed.bind(child("n1", "d", pf(1), {{"blue", kLimited}}));
  CHECK(members("blue") == std::vector<fabric::Member>{{pf(1), kLimited, false}});
  Partition blue = make_partition("blue", 0x100);
  blue.index0 = true;
  REQUIRE(bed.registry->partitions.update(blue, bed.now));
  CHECK(members("blue") == std::vector<fabric::Member>{{pf(1), kLimited, true}});
  // A static membership of the interface itself gets index 0.
  const uint64_t version = bed.registry->bindings.changed_in(pf(1));
  first.members = second.members = {{pf(1), kLimited, ""}};
  REQUIRE(bed.registry->partitions.update(first, bed.now));
  CHECK(index0() == ib::PKey(0x110));
  CHECK(bed.registry->bindings.changed_in(pf(1)) > version);
  CHECK(members("first") ==
        std::vector<fabric::Member>{{pf(1), kLimited, false}, {vf(1), kLimited, false}});
  CHECK(bed.registry->partitions.update(second, bed.now).error().code() == Code::busy);
  first.members.clear();
  REQUIRE(bed.registry->partitions.update(first, bed.now));
  CHECK_FALSE(index0());
  CHECK(members("first").back() == fabric::Member{pf(1), kLimited, true});
}

TEST_CASE("a full table is busy, and keys that are leaving still fill it") {
  Fixture bed({make_partition("a", 0x100), make_partition("b", 0x101), make_partition("c", 0x102),
               make_partition("d", 0x103)});
  const auto bind = [&](const BindRequest& request, TableCapacity places) {
    return bed.registry->bindings.bind(node("n1"), request, PortFacts{.capacity = places}, bed.now);
  };
  const TableCapacity three{3, 0, 1};
  REQUIRE(bind(child("n1", "x", pf(1), {{"a", kLimited}, {"b", kLimited}}), three));
  const Error full = bind(child("n1", "y", pf(1), {{"c", kLimited}}), three).error();
  CHECK(full.code() == Code::busy);
  CHECK(full.text() ==
        "bind n1/y/net1: capacity: the P_Key table of port 00:02:c9:03:00:00:00:01 is full: it "
        "has 3 entries, and 4 are needed; request fewer partitions for this port");
  CHECK(bind(child("n1", "y", pf(1), {{"b", kLimited}}), three));
  bed.unbind(child("n1", "x", pf(1), {}));
  CHECK_FALSE(bind(child("n1", "z", pf(1), {{"c", kLimited}}), three));
  bed.settle();
  CHECK(bind(child("n1", "z", pf(1), {{"c", kLimited}}), three));
  // `both` takes two entries; the binding's old key takes none, as it is removed first.
  CHECK_FALSE(bind(request("n1", "v", vf(1), {{"a", kBoth}, {"b", kLimited}}), three));
  CHECK(bind(request("n1", "v", vf(1), {{"a", kBoth}}), three));
  CHECK(bind(request("n1", "v", vf(1), {{"c", kLimited}, {"d", kLimited}}), three));
  bed.settle();
  // The switch port's table has the same keys, and may have fewer entries.
  const auto leaf = bind(request("n1", "w", vf(2), {{"c", kLimited}, {"d", kLimited}}), {3, 2, 1});
  CHECK(leaf.error().text().find("the P_Key table of the switch port of port") !=
        std::string::npos);
  CHECK(bind(request("n1", "w", vf(2), {{"c", kLimited}}), {3, 2, 1}));
}

TEST_CASE("`both` is refused where OpenSM would make it full") {
  Policy rules = policy();
  rules.unsupported.both = "needs opensm.allowBothPkeys";
  Fixture bed({make_partition("blue", 0x100)}, rules);
  CHECK(bed.refusal(request("n1", "a", vf(1), {{"blue", kBoth}})).code() == Code::invalid);
  Partition both = make_partition("both", 0x101);
  both.membership = kBoth;
  CHECK_FALSE(bed.registry->partitions.create(both));
  both.membership = kFull;
  both.members = {{storage(1), kBoth, ""}};
  CHECK_FALSE(bed.registry->partitions.create(both));
}

TEST_CASE(
    "an existing `both` that is no longer allowed keeps the registry from starting, by name") {
  Partition usual = make_partition("usual", 0x101), member = make_partition("member", 0x102);
  usual.membership = kBoth;
  member.members = {{storage(1), kBoth, ""}};
  const auto refusal = [](Fixture& bed) {
    bed.settings.unsupported.both = "needs opensm.allowBothPkeys";
    const auto started = Registries::load(bed.store, bed.settings, bed.now);
    return started ? "" : std::string(started.error().text());
  };
  Fixture of_partition({usual}), of_member({member}), of_binding, of_none;
  CHECK(refusal(of_partition)
            .starts_with("partition usual: the membership of bindings that request"));
  CHECK(refusal(of_member).starts_with("partition member: the membership of member 00:02:c9:"));
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kBoth}});
  of_binding.bind(a);
  CHECK(refusal(of_binding).starts_with("partition blue: the membership of binding n1/a/net1"));
  // Keys that leave the tables anyway are no conflict.
  of_binding.unbind(a);
  CHECK(refusal(of_binding).empty());
  CHECK(refusal(of_none).empty());
}

TEST_CASE("a request that can never be granted names the field") {
  Fixture bed;
  const BindRequest good = request("n1", "a", vf(1), {{"blue", kLimited}});
  const auto refused = [&](const auto& change, const std::string& word) {
    BindRequest bad = good;
    change(bad);
    const auto answer = bed.registry->bindings.bind(administrator(), bad, absent(), bed.now);
    REQUIRE_FALSE(answer);
    CAPTURE(answer.error().text());
    CHECK(answer.error().code() == Code::invalid);
    CHECK(answer.error().text().find(word) != std::string::npos);
  };
  const auto chosen_child = [](BindRequest& r) {
    r.kind = fabric::Kind::child;
    r.guid_requested = true;
  };
  refused(chosen_child, "chosen");
  refused([](BindRequest& r) { r.partitions.resize(2, r.partitions[0]); }, "twice");
  for (const auto membership : {kLimited, kFull})
    refused(
        [&](BindRequest& r) {
          const auto blue = bed.registry->partitions.view().find("blue");
          r.partitions.push_back({"", membership, blue->spec.pkey});
        },
        "partition blue is listed twice");
  refused([](BindRequest& r) { r.partitions.assign(65, {"x", kLimited}); }, "65");
  CHECK(bed.registry->journal.records().bindings.size() == 0);
  CHECK(bed.registry->journal.commit(bed.now).status);
}

TEST_CASE("a partition is requested by its P_Key, and its name is revealed only to its members") {
  Fixture bed({make_partition("blue", 0x100, {"team"}), make_partition("red", 0x101, {"others"})});
  const auto node = [](const std::string& name) {
    return Caller{.role = fabricapi::Role::node, .node = name, .name = "CN=" + name};
  };
  const auto named = [&](int pkey) {
    BindRequest asked =
        request("n1", "a", vf(1), {{"", kFull, ib::PKey(static_cast<uint16_t>(pkey))}});
    return bed.registry->bindings.bind(node("n1"), asked, absent(), bed.now);
  };
  const auto bound = named(0x100);
  REQUIRE_MESSAGE(bound.ok(), bound.error().text());
  CHECK(bound->desired == std::vector<fabric::PartitionMembership>{{"blue", kFull}});
  const std::string none = "that pods of namespace team may be in";
  const auto unknown = named(0x102);
  CHECK(unknown.error().code() == Code::denied);
  CHECK(unknown.error().text() == "bind n1/a/net1: there is no partition 0x0102 " + none);
  bed.unbind(request("n1", "a", vf(1), {}));
  bed.settle();
  const auto closed = named(0x101);
  CHECK(closed.error().code() == Code::denied);
  CHECK(closed.error().text() == "bind n1/a/net1: there is no partition 0x0101 " + none);
}

TEST_CASE("there are no more bindings than there may be, of all and of a node") {
  Policy rules = policy();
  rules.limits.bindings = 3;
  rules.limits.bindings_of_node = 2;
  Fixture bed({make_partition("blue", 0x100)}, rules);
  bed.bind(request("n1", "a", vf(1), {{"blue", kLimited}}));
  bed.bind(request("n1", "b", vf(2), {{"blue", kLimited}}));
  CHECK(bed.refusal(request("n1", "c", vf(3), {{"blue", kLimited}})).code() == Code::busy);
  bed.bind(request("n2", "c", vf(11), {{"blue", kLimited}}));
  CHECK(bed.refusal(request("n2", "d", vf(12), {{"blue", kLimited}})).code() == Code::busy);
  bed.bind(request("n2", "c", vf(11), {{"blue", kFull}}));
}

TEST_CASE("a condition is reported, and says what is known of the keys") {
  struct {
    Reason reason;
    BindingState verified, requested;
  } const cases[] = {
      {Reason::timeout, BindingState::unknown, BindingState::requested},
      {Reason::port_unknown, BindingState::unknown, BindingState::requested},
      {Reason::missing_key, BindingState::written, BindingState::requested},
      {Reason::foreign_key, BindingState::written, BindingState::requested},
      {Reason::no_master, BindingState::verified, BindingState::requested},
      {Reason::misconfigured, BindingState::verified, BindingState::requested},
  };
  for (const auto& trouble : cases) {
    Fixture bed;
    const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
    const BindRequest b = request("n1", "b", vf(2), {{"blue", kLimited}});
    const BindRequest c = request("n1", "c", vf(3), {{"blue", kLimited}});
    bed.bind(a);
    bed.bind(c);
    bed.settle();
    bed.bind(b);
    bed.unbind(c);
    for (const ib::Guid guid : {vf(1), vf(2), vf(3), vf(4)})
      bed.registry->bindings.set_condition(guid, {trouble.reason, "why"}, bed.now);
    CHECK(bed.state(a) == trouble.verified);
    CHECK(bed.state(b) == trouble.requested);
    CHECK(bed.state(c) == BindingState::releasing);
    CHECK(bed.binding(b)->condition == fabric::Condition{trouble.reason, "why"});
    CHECK(bed.registry->bindings.unsettled().contains(vf(1)) ==
          (trouble.verified != BindingState::verified));
    // An unknown port is not free.
    CHECK(bed.refusal(request("n1", "d", vf(1), {{"blue", kLimited}})).code() == Code::busy);
    CHECK(bed.keys(vf(1)) == "0x0100");
    bed.settle();
    CHECK(bed.state(a) == BindingState::verified);
    CHECK(bed.binding(a)->condition == fabric::Condition{});
    CHECK(bed.state(c) == BindingState::released);
  }
}

TEST_CASE("a partition can require proof from the port itself") {
  Partition strict = make_partition("strict", 0x120);
  strict.proof = Proof::port;
  Fixture bed({strict, make_partition("blue", 0x100)});
  const BindRequest a = request("n1", "a", vf(1), {{"strict", kLimited}, {"blue", kLimited}});
  bed.bind(a);
  bed.sweep();
  bed.see(vf(1), Proof::node);
  CHECK(bed.state(a) == BindingState::written);
  CHECK(bed.binding(a)->condition.reason == Reason::waiting);
  CHECK(bed.binding(a)->condition.text ==
        "partition strict requires proof from the port (proof: port); so far only the node has "
        "reported");
  bed.see(vf(1), Proof::none);
  CHECK(bed.state(a) == BindingState::written);
  bed.see(vf(1), Proof::port);
  CHECK(bed.state(a) == BindingState::verified);
  bed.unbind(a);
  bed.sweep();
  bed.see(vf(1), Proof::node);
  CHECK(bed.state(a) == BindingState::releasing);
  bed.see(vf(1), Proof::port);
  CHECK(bed.state(a) == BindingState::released);

  // The partition may require this proof later.
  const BindRequest b = request("n1", "b", vf(2), {{"blue", kLimited}});
  bed.bind(b);
  bed.sweep();
  bed.see(vf(2), Proof::node);
  REQUIRE(bed.state(b) == BindingState::verified);
  Partition blue = make_partition("blue", 0);
  blue.proof = Proof::port;
  REQUIRE(bed.registry->partitions.update(blue, bed.now));
  CHECK(bed.state(b) == BindingState::written);
  CHECK(bed.registry->bindings.unsettled() == std::set{vf(2)});
}

TEST_CASE("a partition can require no proof") {
  Partition open = make_partition("open", 0x120);
  open.proof = Proof::none;
  Fixture bed({open, make_partition("blue", 0x100)});
  const BindRequest a = request("n1", "a", vf(1), {{"open", kLimited}});
  const BindRequest b = request("n1", "b", vf(2), {{"open", kLimited}, {"blue", kLimited}});
  CHECK_FALSE(bed.registry->bindings.needs_no_proof(vf(1)));
  bed.bind(a);
  bed.bind(b);
  CHECK(bed.registry->bindings.needs_no_proof(vf(1)));
  CHECK_FALSE(bed.registry->bindings.needs_no_proof(vf(2)));
  bed.sweep();
  bed.see(vf(1), Proof::none);
  bed.see(vf(2), Proof::none);
  CHECK(bed.state(a) == BindingState::verified);
  CHECK(bed.binding(a)->proof == Proof::none);
  CHECK(bed.state(b) == BindingState::written);
  bed.unbind(a);
  bed.sweep();
  bed.see(vf(1), Proof::none);
  CHECK(bed.state(a) == BindingState::released);

  // The partition may require this proof later.
  const BindRequest c = request("n1", "c", vf(3), {{"open", kLimited}});
  bed.bind(c);
  bed.sweep();
  bed.see(vf(3), Proof::none);
  REQUIRE(bed.state(c) == BindingState::verified);
  Partition strict = make_partition("open", 0);
  strict.proof = Proof::node;
  REQUIRE(bed.registry->partitions.update(strict, bed.now));
  CHECK(bed.state(c) == BindingState::written);
}

TEST_CASE("clean is enough for what is to leave, and not for what is to be there") {
  Fixture bed;
  const BindRequest a = child("n1", "a", pf(1), {{"blue", kLimited}});
  const BindRequest b = child("n1", "b", pf(1), {{"red", kLimited}});
  const BindRequest c = request("n1", "c", vf(1), {{"red", kLimited}});
  for (const BindRequest& each : {a, b, c}) bed.bind(each);
  bed.settle();
  bed.unbind(a);
  BindRequest moved = c;
  moved.partitions[0].partition = "blue";
  bed.bind(moved);
  bed.sweep();
  bed.registry->bindings.set_condition(pf(1), {Reason::foreign_key, "0x8222"}, bed.now);
  CHECK(bed.registry->bindings.note_clean(pf(1), bed.registry->journal.version(), Proof::port,
                                          bed.now));
  CHECK(bed.state(a) == BindingState::released);
  CHECK(bed.state(b) == BindingState::written);
  CHECK(bed.registry->bindings.note_clean(vf(1), bed.registry->journal.version(), Proof::port,
                                          bed.now));
  CHECK(bed.keys(vf(1)) == "0x0100");
  CHECK(bed.state(c) == BindingState::requested);
}

TEST_CASE("present is enough for what is to be there, and not for what is to leave") {
  Fixture bed;
  const BindRequest a = child("n1", "a", pf(1), {{"blue", kLimited}});
  const BindRequest b = child("n1", "b", pf(1), {{"red", kLimited}});
  const BindRequest c = request("n1", "c", vf(1), {{"red", kLimited}});
  const auto present = [&](ib::Guid port) {
    return bed.registry->bindings.note_present(port, bed.registry->journal.version(), Proof::port,
                                               {}, bed.now);
  };
  bed.bind(a);
  bed.bind(c);
  bed.settle();
  bed.unbind(a);
  bed.bind(b);
  BindRequest moved = c;
  moved.partitions[0].partition = "blue";
  bed.bind(moved);
  bed.sweep();
  CHECK(present(pf(1)));
  CHECK(bed.state(a) == BindingState::releasing);
  CHECK(bed.state(b) == BindingState::verified);
  CHECK(bed.registry->bindings.unsettled().contains(pf(1)));
  CHECK(present(vf(1)));
  CHECK(bed.keys(vf(1)).empty());
  CHECK(bed.state(c) == BindingState::written);
  CHECK_FALSE(bed.registry->bindings.note_present(vf(1), 0, Proof::port, {}, bed.now));
  CHECK(bed.see(pf(1)));
  CHECK(bed.state(a) == BindingState::released);
  CHECK(bed.see(vf(1)));
  CHECK(bed.keys(vf(1)) == "0x0100");
}

TEST_CASE("present ends no former membership of a static member") {
  Partition storage_partition = make_partition("store", 0x102);
  storage_partition.members = {{storage(1), kFull, ""}};
  Fixture bed({storage_partition});
  bed.see(storage(1));
  REQUIRE(bed.registry->partitions.remove("store"));
  bed.commit();
  bed.sweep();
  bed.registry->bindings.note_present(storage(1), bed.registry->journal.version(), Proof::port, {},
                                      bed.now);
  CHECK(bed.registry->partitions.view().find("store").has_value());
  bed.see(storage(1));
  CHECK_FALSE(bed.registry->partitions.view().find("store").has_value());
}

TEST_CASE("watchers get each change once, and removed bindings") {
  Fixture bed;
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  const BindRequest b = request("n1", "b", vf(2), {{"blue", kLimited}});
  bed.registry->journal.take_changes();
  bed.bind(a);
  bed.bind(b);
  auto changes = bed.registry->journal.take_changes();
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].binding.attachment == a.attachment);
  CHECK_FALSE(changes[0].gone);
  CHECK(bed.registry->journal.take_changes().empty());
  bed.settle();
  CHECK(bed.registry->journal.take_changes().size() == 2);
  bed.see(vf(1));
  CHECK(bed.registry->journal.take_changes().empty());
  bed.see(vf(1), Proof::node);
  CHECK(bed.registry->journal.take_changes().size() == 1);
  bed.unbind(a);
  bed.settle();
  changes = bed.registry->journal.take_changes();
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].gone);
  CHECK(changes[0].binding.state == BindingState::released);
}

}  // namespace
}  // namespace ibpod::sm::bindings
