#include "tests/support/registry_fixture.h"

namespace ibpod::sm::bindings {
namespace {

using namespace test;

using fabricapi::AllocatedGuid;
using fabricapi::SyncAnswer;

SyncAnswer sync(Fixture& bed, const std::string& name, const std::vector<std::string>& containers) {
  fabricapi::SyncRequest request{name, {}};
  for (const std::string& container : containers)
    request.attachments.push_back({container, "net1"});
  const SyncAnswer answer = bed.registry->nodes.sync(request, bed.now).value();
  bed.commit();
  return answer;
}

void expire(Fixture& bed) {
  REQUIRE(bed.registry->bindings.expire(bed.now));
  bed.commit();
}

Policy leases(state::LeasePolicy at_end) {
  Policy rules = policy();
  rules.lease = std::chrono::seconds(60);
  rules.at_lease_end = at_end;
  return rules;
}

std::vector<Partition> blue() { return {make_partition("blue", 0x100)}; }

TEST_CASE("a Sync tells what is bound, what is not, and what it has not named") {
  Fixture bed(blue(), leases(state::LeasePolicy::hold));
  bed.bind(request("n1", "a", vf(1), {{"blue", kLimited}}));
  bed.bind(request("n1", "b", vf(2), {{"blue", kLimited}}));
  bed.bind(request("n2", "c", vf(11), {{"blue", kLimited}}));
  const SyncAnswer answer = sync(bed, "n1", {"a", "c", "c"});
  REQUIRE(answer.bindings.size() == 1);
  CHECK(answer.bindings[0].attachment.container == "a");
  CHECK(answer.not_bound == std::vector<fabricapi::SyncRequest::AttachmentId>{{"c", "net1"}});
  REQUIRE(answer.not_named.size() == 1);
  CHECK(answer.not_named[0].attachment.container == "b");
  CHECK(answer.lease == std::chrono::seconds(60));
  CHECK(bed.registry->nodes.find("n1")->last_sync() == bed.now.wall.time_since_epoch().count());
  CHECK_FALSE(bed.registry->nodes.find("n2")->has_last_sync());
  CHECK(bed.registry->nodes.list().nodes_size() == 2);
}

TEST_CASE("what a Sync has not named goes when its lease ends, and not before") {
  for (const state::LeasePolicy at_end : {state::LeasePolicy::hold, state::LeasePolicy::revoke}) {
    Fixture bed(blue(), leases(at_end));
    const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
    const BindRequest b = request("n1", "b", vf(2), {{"blue", kLimited}});
    bed.bind(a);
    bed.bind(b);
    bed.settle();
    bed.advance(std::chrono::seconds(59));
    sync(bed, "n1", {"a"});
    expire(bed);
    CHECK(bed.state(b) == BindingState::verified);
    CHECK(bed.registry->bindings.next_expiry() == bed.now.steady + std::chrono::seconds(1));
    bed.advance(std::chrono::seconds(1));
    expire(bed);
    CHECK(bed.state(b) == BindingState::releasing);
    CHECK(bed.binding(b)->condition.reason == Reason::lease);
    CHECK(bed.binding(b)->condition.text == "node n1 no longer reports this attachment");
    CHECK(bed.state(a) == BindingState::verified);
    CHECK(bed.registry->bindings.next_expiry() == bed.now.steady + std::chrono::seconds(59));
  }
}

TEST_CASE("one that was named again, or bound again, is renewed") {
  Fixture bed(blue(), leases(state::LeasePolicy::revoke));
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  const BindRequest b = request("n1", "b", vf(2), {{"blue", kLimited}});
  bed.bind(a);
  bed.bind(b);
  sync(bed, "n1", {});
  bed.advance(std::chrono::seconds(30));
  sync(bed, "n1", {"a"});
  bed.bind(b);
  bed.advance(std::chrono::seconds(59));
  expire(bed);
  CHECK(bed.state(a) == BindingState::requested);
  CHECK(bed.state(b) == BindingState::requested);
}

TEST_CASE("without any Sync a lease's end holds, or revokes") {
  struct {
    state::LeasePolicy at_end;
    BindingState then;
  } const cases[] = {{state::LeasePolicy::hold, BindingState::unknown},
                     {state::LeasePolicy::revoke, BindingState::releasing}};
  for (const auto& end : cases) {
    Fixture bed(blue(), leases(end.at_end));
    const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
    bed.bind(a);
    bed.settle();
    bed.advance(std::chrono::seconds(60));
    expire(bed);
    CHECK(bed.state(a) == end.then);
    CHECK(bed.binding(a)->condition.reason == Reason::lease);
    CHECK(bed.binding(a)->condition.text == "no contact with node n1 for a whole lease");
    CHECK(bed.refusal(request("n1", "b", vf(1), {{"blue", kLimited}})).code() == Code::busy);
    CHECK((bed.keys(vf(1)) == "0x0100") == (end.then == BindingState::unknown));
    CHECK_FALSE(bed.registry->bindings.next_expiry());
  }
}

TEST_CASE("a release by a lease's end is reported once, a requested one is not") {
  Fixture bed(blue(), leases(state::LeasePolicy::revoke));
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  const BindRequest b = request("n1", "b", vf(2), {{"blue", kLimited}});
  bed.bind(a);
  bed.bind(b);
  bed.unbind(b);
  CHECK(bed.expired().empty());
  bed.advance(std::chrono::seconds(60));
  expire(bed);
  CHECK(bed.expired() == std::vector{a.attachment});
  CHECK(bed.expired().empty());

  Fixture holding(blue(), leases(state::LeasePolicy::hold));
  holding.bind(a);
  holding.advance(std::chrono::seconds(60));
  expire(holding);
  CHECK(holding.expired().empty());
  sync(holding, "n1", {});
  CHECK(holding.expired() == std::vector{a.attachment});
}

TEST_CASE("one that was lost comes back with its node, and has to be seen again") {
  Fixture bed(blue(), leases(state::LeasePolicy::hold));
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  const BindRequest b = request("n1", "b", vf(2), {{"blue", kLimited}});
  const BindRequest c = request("n1", "c", vf(3), {{"blue", kLimited}});
  for (const BindRequest& each : {a, b, c}) bed.bind(each);
  bed.settle();
  bed.advance(std::chrono::seconds(60));
  expire(bed);
  CHECK(bed.registry->bindings.unsettled().empty());
  // An observation of the port proves nothing about the node.
  bed.see(vf(1));
  bed.registry->bindings.set_condition(vf(1), {Reason::timeout, ""}, bed.now);
  CHECK(bed.state(a) == BindingState::unknown);
  CHECK(bed.binding(a)->condition.reason == Reason::lease);
  const SyncAnswer answer = sync(bed, "n1", {"a"});
  CHECK(answer.bindings[0].state == BindingState::requested);
  CHECK(bed.state(a) == BindingState::requested);
  // A Sync came without them, and their leases had ended before.
  CHECK(bed.state(b) == BindingState::releasing);
  CHECK(bed.state(c) == BindingState::releasing);
  bed.settle();
  CHECK(bed.state(a) == BindingState::verified);
  bed.advance(std::chrono::seconds(60));
  expire(bed);
  CHECK(bed.bind(a).state == BindingState::requested);
}

TEST_CASE("after a restart every lease is whole") {
  Fixture bed(blue(), leases(state::LeasePolicy::revoke));
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  bed.bind(a);
  sync(bed, "n1", {});
  bed.advance(std::chrono::seconds(100));
  bed.start();
  expire(bed);
  CHECK(bed.state(a) == BindingState::requested);
  bed.advance(std::chrono::seconds(60));
  expire(bed);
  CHECK(bed.state(a) == BindingState::releasing);
}

// Leases use the steady clock. The wall clock may be set by years at any moment.
TEST_CASE("a wall clock that jumps by years ends no lease, and loses no binding") {
  constexpr std::chrono::hours kYears{24 * 365 * 60};
  for (const auto jump : {kYears, -2 * kYears, kYears}) {
    Fixture bed(blue(), leases(state::LeasePolicy::revoke));
    const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
    const BindRequest b = request("n1", "b", vf(2), {{"blue", kLimited}});
    bed.bind(a);
    bed.settle();
    bed.now.wall += jump;
    expire(bed);
    CHECK(bed.state(a) == BindingState::verified);
    CHECK(bed.registry->bindings.next_expiry() == bed.now.steady + std::chrono::seconds(60));
    bed.bind(b);
    bed.settle();
    bed.advance(std::chrono::seconds(59));
    sync(bed, "n1", {"a", "b"});
    bed.now.wall -= jump;
    bed.start();
    expire(bed);
    CHECK(bed.state(a) != BindingState::releasing);
    CHECK(bed.state(b) != BindingState::releasing);
    CHECK(bed.keys(vf(1)) == "0x0100");
    bed.advance(std::chrono::seconds(60));
    expire(bed);
    CHECK(bed.state(a) == BindingState::releasing);
  }
}

TEST_CASE("a Sync that comes a second time brings nothing back") {
  Fixture bed(blue(), leases(state::LeasePolicy::hold));
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  bed.bind(a);
  bed.settle();
  sync(bed, "n1", {"a"});
  bed.unbind(a);
  // During its release, and after it.
  CHECK(sync(bed, "n1", {"a"}).bindings[0].state == BindingState::releasing);
  bed.settle();
  SUBCASE("to the same ibpod-sm") {}
  SUBCASE("to one that has been started since") { bed.start(); }
  const SyncAnswer answer = sync(bed, "n1", {"a"});
  CHECK(answer.bindings.empty());
  CHECK(answer.not_bound == std::vector<fabricapi::SyncRequest::AttachmentId>{{"a", "net1"}});
  CHECK(bed.state(a) == BindingState::released);
  CHECK(bed.keys(vf(1)).empty());
}

TEST_CASE("a Sync that comes late, and does not name what was bound since, ends nothing") {
  for (const bool restarted : {false, true}) {
    Fixture bed(blue(), leases(state::LeasePolicy::revoke));
    const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
    const BindRequest b = request("n1", "b", vf(2), {{"blue", kLimited}});
    bed.bind(a);
    sync(bed, "n1", {"a"});
    bed.bind(b);
    bed.settle();
    if (restarted) bed.start();
    for (int i = 0; i < 3; ++i) {
      bed.advance(std::chrono::seconds(30));
      sync(bed, "n1", {"a"});
      expire(bed);
      CHECK(bed.keys(vf(2)) == "0x0100");
      CHECK(bed.state(b) != BindingState::releasing);
      // The node's own Sync comes three times per lease.
      sync(bed, "n1", {"a", "b"});
    }
    // A Sync of another node changes nothing.
    sync(bed, "n2", {"a", "b"});
    CHECK(bed.keys(vf(2)) == "0x0100");
  }
}

fabricapi::AllocateRequest vfs(const std::string& node, std::vector<uint32_t> vfs) {
  return {node, "0000:01:00.0", std::move(vfs)};
}

std::string allocate(Fixture& bed, const fabricapi::AllocateRequest& request) {
  const auto given = bed.registry->nodes.allocate(request);
  if (!given) return given.error().text();
  bed.commit();
  std::string text;
  for (const AllocatedGuid& one : *given)
    text += std::to_string(one.vf) + "=" + std::to_string(one.guid.value() & 0xfff) + " ";
  return text;
}

TEST_CASE("a VF is given one GUID, for as long as its node is there") {
  Fixture bed(blue());
  CHECK(allocate(bed, vfs("n1", {1, 0, 1})) == "0=0 1=1 ");
  CHECK(allocate(bed, vfs("n2", {0})) == "0=2 ");
  CHECK(allocate(bed, vfs("n1", {2, 0})) == "0=0 2=3 ");
  bed.start();
  CHECK(allocate(bed, vfs("n1", {0, 1, 2, 3})) == "0=0 1=1 2=3 3=4 ");
  CHECK(bed.registry->nodes.find("n1")->guids() == 4);
  fabricapi::AllocateRequest other = vfs("n1", {0});
  other.pf = "0000:02:00.0";
  CHECK(allocate(bed, other) == "0=5 ");
  // All requested GUIDs or none.
  CHECK(allocate(bed, vfs("n1", {4, 5, 6})).find("no GUID is free") == 0);
  CHECK(allocate(bed, vfs("n1", {4, 5})) == "4=6 5=7 ");
  CHECK(allocate(bed, vfs("n1", {0})) == "0=0 ");
}

TEST_CASE("the pool gives no GUID that anything else names") {
  Policy rules = policy();
  rules.nodes["n1"].guids.insert(vf(0x1000));
  rules.nodes["n2"].pfs.insert(vf(0x1001));
  rules.pfs_by_first_claim = true;
  Partition members = make_partition("blue", 0x100);
  members.members = {{vf(0x1002), kFull, ""}};
  Fixture bed({members, make_partition("red", 0x101)}, rules);
  REQUIRE(bed.registry->bindings.bind(
      administrator(), request("n1", "a", vf(0x1003), {{"red", kLimited}}), {}, bed.now));
  REQUIRE(bed.registry->partitions.update(make_partition("blue", 0), bed.now));
  CHECK(allocate(bed, vfs("n3", {0, 1, 2, 3})) == "0=4 1=5 2=6 3=7 ");
  CHECK(allocate(bed, vfs("n3", {4})).find("no GUID is free") == 0);
  // Entries in use become free when the port has been read.
  bed.settle();
  CHECK(allocate(bed, vfs("n3", {4})) == "4=2 ");
}

TEST_CASE("a node is assigned so many GUIDs, and none without a pool") {
  Policy rules = policy();
  rules.limits.guids_of_node = 2;
  Fixture bed(blue(), rules);
  const auto code = [&](fabricapi::AllocateRequest request) {
    return bed.registry->nodes.allocate(request).error().code();
  };
  CHECK(code(vfs("n1", {0, 1, 2})) == Code::busy);
  CHECK(allocate(bed, vfs("n1", {0, 1})) == "0=0 1=1 ");
  bed.settings.guids = pool::GuidPool::make({}).value();
  bed.start();
  CHECK(code(vfs("n1", {0})) == Code::unsupported);
}

TEST_CASE("a node that is forgotten goes when its last binding is released") {
  Fixture bed(blue());
  allocate(bed, vfs("n1", {0}));
  const BindRequest a = request("n1", "a", vf(0x1000), {{"blue", kLimited}});
  const BindRequest b = request("n1", "b", vf(1), {{"blue", kLimited}});
  bed.bind(a);
  bed.bind(b);
  bed.settle();
  const auto forgetting = bed.registry->nodes.forget({"n1", true}, bed.now).value();
  CHECK(forgetting.forgetting());
  CHECK(forgetting.bindings() == 2);
  CHECK(forgetting.guids() == 1);
  bed.commit();
  CHECK(bed.state(a) == BindingState::releasing);
  CHECK(bed.refusal(request("n1", "c", vf(2), {{"blue", kLimited}})).code() == Code::unavailable);
  CHECK(bed.registry->nodes.allocate(vfs("n1", {0})).error().code() == Code::unavailable);
  CHECK(sync(bed, "n1", {"a"}).bindings[0].state == BindingState::releasing);
  bed.sweep();
  bed.see(vf(1));
  bed.start();
  CHECK(bed.registry->nodes.find("n1")->forgetting());
  CHECK(bed.refusal(request("n1", "c", vf(2), {{"blue", kLimited}})).code() == Code::unavailable);
  bed.settle();
  CHECK_FALSE(bed.registry->nodes.find("n1"));
  CHECK(bed.store.objects[state::RecordKind::binding].empty());
  CHECK(bed.store.objects[state::RecordKind::node].empty());
  CHECK(bed.store.objects[state::RecordKind::guid].empty());
  CHECK(bed.refusal(a).code() == Code::denied);
  bed.bind(b);
  CHECK(allocate(bed, vfs("n2", {0})) == "0=1 ");
}

TEST_CASE("a node that may be alive is not forgotten, but by force") {
  Fixture bed(blue(), leases(state::LeasePolicy::hold));
  const auto forget = [&](bool force = false) {
    const auto forgotten = bed.registry->nodes.forget({"n1", force}, bed.now);
    return forgotten ? "done" : forgotten.error().text();
  };
  const auto begins = [](const std::string& text, std::string_view with) {
    INFO(text);
    return text.starts_with(with);
  };
  bed.bind(request("n1", "a", vf(1), {{"blue", kLimited}}));
  allocate(bed, vfs("n1", {0}));
  CHECK(begins(forget(), "node n1 may be alive: ibpod-sm started "));
  bed.advance(std::chrono::seconds(30));
  sync(bed, "n1", {"a"});
  bed.advance(std::chrono::seconds(12));
  CHECK(begins(
      forget(),
      "node n1 is alive: its last call was 12 s ago. Forgetting it would take its 1 bindings "
      "from pods that may be running, and assign its 1 GUIDs to other nodes while its VFs "
      "still have them. Drain the node, stop its agent, and try again in 48 s; or use "
      "--force now if its devices are not in use"));
  CHECK_FALSE(bed.registry->nodes.find("n1")->forgetting());
  bed.advance(std::chrono::seconds(47));
  bed.registry->nodes.note_contact("n1", bed.now);
  bed.advance(std::chrono::seconds(59));
  CHECK(begins(forget(), "node n1 is alive: "));
  bed.advance(std::chrono::seconds(1));
  CHECK(forget() == "done");
  CHECK(forget() == "done");  // again, while it is being forgotten

  Fixture other(blue(), leases(state::LeasePolicy::hold));
  other.bind(request("n1", "a", vf(1), {{"blue", kLimited}}));
  CHECK(other.registry->nodes.forget({"n1", false}, other.now).error().code() == Code::busy);
  CHECK(other.registry->nodes.forget({"n1", true}, other.now));
  CHECK(other.registry->nodes.forget({"n1", false},
                                     other.now));  // a forget cannot be undone
}

TEST_CASE("what could not be put on disk makes no node silent") {
  Fixture bed(blue(), leases(state::LeasePolicy::hold));
  bed.bind(request("n1", "a", vf(1), {{"blue", kLimited}}));
  bed.advance(std::chrono::minutes(10));
  sync(bed, "n1", {"a"});
  REQUIRE(bed.try_bind(request("n1", "b", vf(2), {{"blue", kLimited}})));
  bed.store.fail_at(0, FakeStore::Failure::lost);
  CHECK_FALSE(bed.registry->journal.commit(bed.now).status);
  REQUIRE(bed.registry->nodes.find("n1"));
  CHECK(bed.registry->nodes.find("n1")->last_sync() == bed.now.wall.time_since_epoch().count());
  CHECK(bed.registry->nodes.forget({"n1", false}, bed.now).error().code() == Code::busy);
}

TEST_CASE("a node that has nothing is forgotten although it is alive: no pod loses anything") {
  Fixture bed(blue());
  sync(bed, "n1", {});
  REQUIRE(bed.registry->nodes.find("n1"));
  CHECK(bed.registry->nodes.forget({"n1", false}, bed.now));
}

TEST_CASE("a node without bindings is forgotten at once") {
  Fixture bed(blue());
  allocate(bed, vfs("n1", {0}));
  const auto gone = bed.registry->nodes.forget({"n1", true}, bed.now).value();
  CHECK(gone.bindings() == 0);
  CHECK(gone.guids() == 0);
  bed.commit();
  CHECK_FALSE(bed.registry->nodes.find("n1"));
  CHECK(bed.store.objects[state::RecordKind::guid].empty());
  CHECK(bed.registry->nodes.forget({"n1", true}, bed.now).error().code() == Code::not_found);
}

TEST_CASE("one that was interrupted while its last promise went is forgotten at the next start") {
  Fixture bed(blue());
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  bed.bind(a);
  REQUIRE(bed.registry->nodes.forget({"n1", true}, bed.now));
  bed.commit();
  bed.store.objects[state::RecordKind::binding].clear();
  bed.start();
  bed.commit();
  CHECK_FALSE(bed.registry->nodes.find("n1"));
  CHECK(bed.store.objects[state::RecordKind::node].empty());
}

TEST_CASE("there are no more nodes than there may be") {
  Policy rules = policy();
  rules.limits.nodes = 1;
  Fixture bed(blue(), rules);
  sync(bed, "n1", {});
  CHECK(bed.registry->nodes.sync({"n2", {}}, bed.now).error().code() == Code::busy);
  CHECK(bed.registry->nodes.allocate(vfs("n2", {0})).error().code() == Code::busy);
  CHECK(bed.refusal(request("n2", "a", vf(11), {{"blue", kLimited}})).code() == Code::busy);
}

TEST_CASE("bindings are found by what is asked, page by page") {
  Fixture bed;
  bed.bind(request("n1", "a", vf(1), {{"blue", kLimited}}));
  bed.bind(request("n1", "b", vf(2), {{"red", kLimited}}));
  bed.bind(request("n2", "c", vf(11), {{"blue", kLimited}, {"red", kLimited}}));
  bed.bind(request("n3", "d", vf(21), {{"blue", kLimited}}));
  bed.unbind(request("n3", "d", vf(21), {}));
  const auto listed = [&](const fabricapi::BindingFilter& filter, uint32_t size) {
    std::string seen;
    fabricapi::PageRequest page{size, ""};
    do {
      const auto found = bed.registry->bindings.list(filter, page).value();
      CHECK(found.items.size() <= size);
      for (const fabric::Binding& binding : found.items) seen += binding.attachment.container;
      page.token = found.next;
    } while (!page.token.empty());
    return seen;
  };
  for (const uint32_t size : {1U, 2U, 100U}) {
    CHECK(listed({}, size) == "abcd");
    CHECK(listed({"n1", "", "", "", {}, {}}, size) == "ab");
    CHECK(listed({"n9", "", "", "", {}, {}}, size).empty());
    CHECK(listed({"", "blue", "", "", {}, {}}, size) == "acd");
    CHECK(listed({"n2", "red", "", "", {}, {}}, size) == "c");
    CHECK(listed({"", "none", "", "", {}, {}}, size).empty());
    CHECK(listed({"", "", "other", "", {}, {}}, size).empty());
    CHECK(listed({"", "", "team", "pod-b", {}, {}}, size) == "b");
    CHECK(listed({"", "", "", "", vf(11), {}}, size) == "c");
    CHECK(listed({"", "", "", "", {}, BindingState::releasing}, size) == "d");
  }
  CHECK(bed.registry->bindings.list({}, {0, "x"}).error().code() == Code::invalid);
  CHECK(bed.registry->bindings.bindings_on(vf(11)).size() == 1);
  CHECK(bed.registry->bindings.bindings_on(vf(12)).empty());
}

// The ports for which a Bind would be refused.
std::vector<ib::Guid> unknown(Fixture& bed, const std::string& name, std::vector<ib::Guid> vfs,
                              std::vector<ib::Guid> pfs) {
  fabricapi::SyncRequest request{name, {}, std::move(vfs), std::move(pfs)};
  return bed.registry->nodes.sync(request, bed.now).value().unknown;
}

TEST_CASE("a Sync tells which ports of a node every Bind would refuse") {
  using Guids = std::vector<ib::Guid>;
  Fixture bed(blue());
  const ib::Guid given =
      bed.registry->nodes.allocate({"n1", "0000:3b:00.0", {3}}).value().front().guid;
  bed.commit();
  const ib::Guid odd(0x59ca'bb00'9792'745f), foreign(0x0200'0000'00bb'0001);
  const Guids all{vf(1), given, vf(11), foreign, odd};
  CHECK(unknown(bed, "n1", all, {}) == Guids{vf(11), foreign, odd});
  CHECK(unknown(bed, "n2", all, {}) == Guids{vf(1), given, foreign, odd});
  for (const ib::Guid guid : {vf(11), foreign})
    CHECK(bed.refusal(request("n1", "a", guid, {{"blue", kLimited}})).code() == Code::denied);
  bed.bind(request("n1", "b", given, {{"blue", kLimited}}));
}

TEST_CASE("a Sync tells which PFs a node may make no IPoIB child on") {
  using Guids = std::vector<ib::Guid>;
  Policy rules = policy();
  rules.nodes["n2"].pfs.insert(pf(2));
  Fixture strict(blue(), rules);
  CHECK(unknown(strict, "n1", {}, {pf(2), pf(9)}) == Guids{pf(2), pf(9)});
  CHECK(unknown(strict, "n2", {}, {pf(2), pf(9)}) == Guids{pf(9)});
  rules.pfs_by_first_claim = true;
  Fixture claimed(blue(), rules);
  CHECK(unknown(claimed, "n1", {}, {pf(2), pf(9)}) == Guids{pf(2)});
}

TEST_CASE("if pods may request GUIDs, a VF's own GUID does not keep pods out of a partition") {
  Policy rules = policy();
  rules.guids =
      pool::GuidPool::make({{vf(0x1000), vf(0x1007)}, {vf(0x2000), vf(0x2007), {"lab"}}}).value();
  Fixture bed(blue(), rules);
  CHECK(unknown(bed, "n1", {vf(11)}, {}).empty());
}

}  // namespace
}  // namespace ibpod::sm::bindings
