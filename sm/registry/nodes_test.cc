#include "sm/registry/test_registry.h"

namespace ibpod::sm {
namespace {

using fabricapi::Allocated;
using fabricapi::SyncAnswer;

SyncAnswer sync(Bed& bed, const std::string& name, const std::vector<std::string>& containers) {
  fabricapi::SyncRequest request{name, {}};
  for (const std::string& container : containers)
    request.attachments.push_back({container, "net1"});
  const SyncAnswer answer = bed.ledger->sync(node(name), request, bed.now).value();
  bed.commit();
  return answer;
}

void expire(Bed& bed) {
  REQUIRE(bed.ledger->expire(bed.now));
  bed.commit();
}

Policy leases(LeaseEnd at_end) {
  Policy rules = policy();
  rules.lease = std::chrono::seconds(60);
  rules.at_end = at_end;
  return rules;
}

std::vector<Tenancy> blue() { return {tenancy("blue", 0x100)}; }

TEST_CASE("a Sync tells what is bound, what is not, and what it has not named") {
  Bed bed(blue(), leases(LeaseEnd::hold));
  bed.bind(request("n1", "a", vf(1), {{"blue", kLimited}}));
  bed.bind(request("n1", "b", vf(2), {{"blue", kLimited}}));
  bed.bind(request("n2", "c", vf(11), {{"blue", kLimited}}));
  const SyncAnswer answer = sync(bed, "n1", {"a", "c", "c"});
  REQUIRE(answer.bindings.size() == 1);
  CHECK(answer.bindings[0].attachment.container == "a");
  CHECK(answer.not_bound == std::vector<fabricapi::SyncRequest::Present>{{"c", "net1"}});
  REQUIRE(answer.not_named.size() == 1);
  CHECK(answer.not_named[0].attachment.container == "b");
  CHECK(answer.lease == std::chrono::seconds(60));
  CHECK(bed.ledger->node("n1")->last_heard == bed.now.wall);
  CHECK_FALSE(bed.ledger->node("n2")->last_heard);
  CHECK(bed.ledger->nodes().size() == 2);
}

TEST_CASE("what a Sync has not named goes when its lease ends, and not before") {
  for (const LeaseEnd at_end : {LeaseEnd::hold, LeaseEnd::revoke}) {
    Bed bed(blue(), leases(at_end));
    const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
    const BindRequest b = request("n1", "b", vf(2), {{"blue", kLimited}});
    bed.bind(a);
    bed.bind(b);
    bed.settle();
    bed.pass(std::chrono::seconds(59));
    sync(bed, "n1", {"a"});
    expire(bed);
    CHECK(bed.state(b) == State::verified);
    CHECK(bed.ledger->next_expiry() == bed.now.steady + std::chrono::seconds(1));
    bed.pass(std::chrono::seconds(1));
    expire(bed);
    CHECK(bed.state(b) == State::releasing);
    CHECK(bed.binding(b)->standing.reason == Reason::lease);
    CHECK(bed.binding(b)->standing.text == "node n1 has it no longer");
    CHECK(bed.state(a) == State::verified);
    CHECK(bed.ledger->next_expiry() == bed.now.steady + std::chrono::seconds(59));
  }
}

TEST_CASE("one that was named again, or bound again, is renewed") {
  Bed bed(blue(), leases(LeaseEnd::revoke));
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  const BindRequest b = request("n1", "b", vf(2), {{"blue", kLimited}});
  bed.bind(a);
  bed.bind(b);
  sync(bed, "n1", {});
  bed.pass(std::chrono::seconds(30));
  sync(bed, "n1", {"a"});
  bed.bind(b);
  bed.pass(std::chrono::seconds(59));
  expire(bed);
  CHECK(bed.state(a) == State::requested);
  CHECK(bed.state(b) == State::requested);
}

TEST_CASE("without any Sync a lease's end holds, or revokes") {
  struct {
    LeaseEnd at_end;
    State then;
  } const cases[] = {{LeaseEnd::hold, State::unknown}, {LeaseEnd::revoke, State::releasing}};
  for (const auto& end : cases) {
    Bed bed(blue(), leases(end.at_end));
    const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
    bed.bind(a);
    bed.settle();
    bed.pass(std::chrono::seconds(60));
    expire(bed);
    CHECK(bed.state(a) == end.then);
    CHECK(bed.binding(a)->standing.reason == Reason::lease);
    CHECK(bed.binding(a)->standing.text == "node n1 has not been heard of");
    CHECK(bed.refusal(request("n1", "b", vf(1), {{"blue", kLimited}})).code() == Code::busy);
    CHECK((bed.keys(vf(1)) == "0x0100") == (end.then == State::unknown));
    CHECK_FALSE(bed.ledger->next_expiry());
  }
}

TEST_CASE("what a lease's end has released is told once, what was asked for is not") {
  Bed bed(blue(), leases(LeaseEnd::revoke));
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  const BindRequest b = request("n1", "b", vf(2), {{"blue", kLimited}});
  bed.bind(a);
  bed.bind(b);
  bed.unbind(b);
  CHECK(bed.ledger->take_lapsed().empty());
  bed.pass(std::chrono::seconds(60));
  expire(bed);
  CHECK(bed.ledger->take_lapsed() == std::vector{a.attachment});
  CHECK(bed.ledger->take_lapsed().empty());

  Bed holding(blue(), leases(LeaseEnd::hold));
  holding.bind(a);
  holding.pass(std::chrono::seconds(60));
  expire(holding);
  CHECK(holding.ledger->take_lapsed().empty());
  sync(holding, "n1", {});
  CHECK(holding.ledger->take_lapsed() == std::vector{a.attachment});
}

TEST_CASE("one that was lost comes back with its node, and has to be seen again") {
  Bed bed(blue(), leases(LeaseEnd::hold));
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  const BindRequest b = request("n1", "b", vf(2), {{"blue", kLimited}});
  const BindRequest c = request("n1", "c", vf(3), {{"blue", kLimited}});
  for (const BindRequest& each : {a, b, c}) bed.bind(each);
  bed.settle();
  bed.pass(std::chrono::seconds(60));
  expire(bed);
  CHECK(bed.ledger->unsettled().empty());
  // What is seen of the port says nothing of the node.
  bed.see(vf(1));
  bed.ledger->note_trouble(vf(1), {Reason::timeout, ""}, bed.now);
  CHECK(bed.state(a) == State::unknown);
  CHECK(bed.binding(a)->standing.reason == Reason::lease);
  const SyncAnswer answer = sync(bed, "n1", {"a"});
  CHECK(answer.bindings[0].state == State::requested);
  CHECK(bed.state(a) == State::requested);
  // A Sync came, and has not named them: their leases have ended before.
  CHECK(bed.state(b) == State::releasing);
  CHECK(bed.state(c) == State::releasing);
  bed.settle();
  CHECK(bed.state(a) == State::verified);
  bed.pass(std::chrono::seconds(60));
  expire(bed);
  CHECK(bed.bind(a).state == State::requested);
}

TEST_CASE("after a restart every lease is whole") {
  Bed bed(blue(), leases(LeaseEnd::revoke));
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  bed.bind(a);
  sync(bed, "n1", {});
  bed.pass(std::chrono::seconds(100));
  bed.start();
  expire(bed);
  CHECK(bed.state(a) == State::requested);
  bed.pass(std::chrono::seconds(60));
  expire(bed);
  CHECK(bed.state(a) == State::releasing);
}

// Leases run on the steady clock. The other one may be set, by years, at any moment.
TEST_CASE("a wall clock that jumps by years ends no lease, and loses no binding") {
  constexpr std::chrono::hours kYears{24 * 365 * 60};
  for (const auto jump : {kYears, -2 * kYears, kYears}) {
    Bed bed(blue(), leases(LeaseEnd::revoke));
    const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
    const BindRequest b = request("n1", "b", vf(2), {{"blue", kLimited}});
    bed.bind(a);
    bed.settle();
    bed.now.wall += jump;
    expire(bed);
    CHECK(bed.state(a) == State::verified);
    CHECK(bed.ledger->next_expiry() == bed.now.steady + std::chrono::seconds(60));
    bed.bind(b);
    bed.settle();
    bed.pass(std::chrono::seconds(59));
    sync(bed, "n1", {"a", "b"});
    bed.now.wall -= jump;
    bed.start();
    expire(bed);
    CHECK(bed.state(a) != State::releasing);
    CHECK(bed.state(b) != State::releasing);
    CHECK(bed.keys(vf(1)) == "0x0100");
    bed.pass(std::chrono::seconds(60));
    expire(bed);
    CHECK(bed.state(a) == State::releasing);
  }
}

TEST_CASE("a Sync that comes a second time brings nothing back") {
  Bed bed(blue(), leases(LeaseEnd::hold));
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  bed.bind(a);
  bed.settle();
  sync(bed, "n1", {"a"});
  bed.unbind(a);
  // While it is being released, and after that.
  CHECK(sync(bed, "n1", {"a"}).bindings[0].state == State::releasing);
  bed.settle();
  SUBCASE("to the same ibpod-sm") {}
  SUBCASE("to one that has been started since") { bed.start(); }
  const SyncAnswer answer = sync(bed, "n1", {"a"});
  CHECK(answer.bindings.empty());
  CHECK(answer.not_bound == std::vector<fabricapi::SyncRequest::Present>{{"a", "net1"}});
  CHECK(bed.state(a) == State::released);
  CHECK(bed.keys(vf(1)).empty());
}

TEST_CASE("a Sync that comes late, and does not name what was bound since, ends nothing") {
  for (const bool restarted : {false, true}) {
    Bed bed(blue(), leases(LeaseEnd::revoke));
    const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
    const BindRequest b = request("n1", "b", vf(2), {{"blue", kLimited}});
    bed.bind(a);
    sync(bed, "n1", {"a"});
    bed.bind(b);
    bed.settle();
    if (restarted) bed.start();
    for (int i = 0; i < 3; ++i) {
      bed.pass(std::chrono::seconds(30));
      sync(bed, "n1", {"a"});
      expire(bed);
      CHECK(bed.keys(vf(2)) == "0x0100");
      CHECK(bed.state(b) != State::releasing);
      // The node's own Sync comes in every third of a lease.
      sync(bed, "n1", {"a", "b"});
    }
    // Of another node: not even that.
    sync(bed, "n2", {"a", "b"});
    CHECK(bed.keys(vf(2)) == "0x0100");
  }
}

fabricapi::AllocateRequest vfs(const std::string& node, std::vector<uint32_t> vfs) {
  return {node, "0000:01:00.0", std::move(vfs)};
}

std::string allocate(Bed& bed, const fabricapi::AllocateRequest& request) {
  const auto given = bed.ledger->allocate(node(request.node), request);
  if (!given) return given.error().text();
  bed.commit();
  std::string text;
  for (const Allocated& one : *given)
    text += std::to_string(one.vf) + "=" + std::to_string(one.guid.value() & 0xfff) + " ";
  return text;
}

TEST_CASE("a VF is given one GUID, for as long as its node is there") {
  Bed bed(blue());
  CHECK(allocate(bed, vfs("n1", {1, 0, 1})) == "0=0 1=1 ");
  CHECK(allocate(bed, vfs("n2", {0})) == "0=2 ");
  CHECK(allocate(bed, vfs("n1", {2, 0})) == "0=0 2=3 ");
  bed.start();
  CHECK(allocate(bed, vfs("n1", {0, 1, 2, 3})) == "0=0 1=1 2=3 3=4 ");
  CHECK(bed.ledger->node("n1")->guids == 4);
  fabricapi::AllocateRequest other = vfs("n1", {0});
  other.pf = "0000:02:00.0";
  CHECK(allocate(bed, other) == "0=5 ");
  // All of it or nothing.
  CHECK(allocate(bed, vfs("n1", {4, 5, 6})).find("no GUID is free") == 0);
  CHECK(allocate(bed, vfs("n1", {4, 5})) == "4=6 5=7 ");
  CHECK(allocate(bed, vfs("n1", {0})) == "0=0 ");
}

TEST_CASE("the pool gives no GUID that anything else names") {
  Policy rules = policy();
  rules.nodes["n1"].guids.insert(vf(0x1000));
  rules.nodes["n2"].pfs.insert(vf(0x1001));
  rules.pfs_by_first_claim = true;
  Tenancy members = tenancy("blue", 0x100);
  members.members = {{vf(0x1002), kFull, ""}};
  Bed bed({members, tenancy("red", 0x101)}, rules);
  REQUIRE(bed.ledger->bind(administrator(), request("n1", "a", vf(0x1003), {{"red", kLimited}}), {},
                           bed.now));
  REQUIRE(bed.ledger->update(administrator(), tenancy("blue", 0), bed.now));
  CHECK(allocate(bed, vfs("n3", {0, 1, 2, 3})) == "0=4 1=5 2=6 3=7 ");
  CHECK(allocate(bed, vfs("n3", {4})).find("no GUID is free") == 0);
  // What was being used of it comes free when it has been seen.
  bed.settle();
  CHECK(allocate(bed, vfs("n3", {4})) == "4=2 ");
}

TEST_CASE("GUIDs are for VFs that there can be, and not too many of them") {
  Policy rules = policy();
  rules.limits.guids_of_node = 2;
  Bed bed(blue(), rules);
  const auto code = [&](fabricapi::AllocateRequest request) {
    return bed.ledger->allocate(administrator(), request).error().code();
  };
  CHECK(code(vfs("n1", {0x10000})) == Code::invalid);
  CHECK(code({"n1", "ib0", {0}}) == Code::invalid);
  CHECK(code({"", "0000:01:00.0", {0}}) == Code::invalid);
  CHECK(code(vfs("n1", {0, 1, 2})) == Code::busy);
  CHECK(allocate(bed, vfs("n1", {0, 1})) == "0=0 1=1 ");
  bed.rules.guids = GuidPool::make({}).value();
  bed.start();
  CHECK(code(vfs("n1", {0})) == Code::unsupported);
}

TEST_CASE("a node that is forgotten goes when its last binding is released") {
  Bed bed(blue());
  allocate(bed, vfs("n1", {0}));
  const BindRequest a = request("n1", "a", vf(0x1000), {{"blue", kLimited}});
  const BindRequest b = request("n1", "b", vf(1), {{"blue", kLimited}});
  bed.bind(a);
  bed.bind(b);
  bed.settle();
  const auto forgetting = bed.ledger->forget(administrator(), {"n1", true}, bed.now).value();
  CHECK(forgetting.forgetting);
  CHECK(forgetting.bindings == 2);
  CHECK(forgetting.guids == 1);
  bed.commit();
  CHECK(bed.state(a) == State::releasing);
  CHECK(bed.refusal(request("n1", "c", vf(2), {{"blue", kLimited}})).code() == Code::unavailable);
  CHECK(bed.ledger->allocate(node("n1"), vfs("n1", {0})).error().code() == Code::unavailable);
  CHECK(sync(bed, "n1", {"a"}).bindings[0].state == State::releasing);
  bed.sweep();
  bed.see(vf(1));
  bed.start();
  CHECK(bed.ledger->node("n1")->forgetting);
  CHECK(bed.refusal(request("n1", "c", vf(2), {{"blue", kLimited}})).code() == Code::unavailable);
  bed.settle();
  CHECK_FALSE(bed.ledger->node("n1"));
  CHECK(bed.store.objects[Kind::binding].empty());
  CHECK(bed.store.objects[Kind::node].empty());
  CHECK(bed.store.objects[Kind::guid].empty());
  CHECK(bed.refusal(a).code() == Code::denied);
  bed.bind(b);
  CHECK(allocate(bed, vfs("n2", {0})) == "0=1 ");
}

TEST_CASE("a node that may be alive is not forgotten, but by force") {
  Bed bed(blue(), leases(LeaseEnd::hold));
  const auto forget = [&](bool force = false) {
    const auto forgotten = bed.ledger->forget(administrator(), {"n1", force}, bed.now);
    return forgotten ? "done" : forgotten.error().text();
  };
  const auto begins = [](const std::string& text, std::string_view with) {
    INFO(text);
    return text.starts_with(with);
  };
  bed.bind(request("n1", "a", vf(1), {{"blue", kLimited}}));
  allocate(bed, vfs("n1", {0}));
  CHECK(begins(forget(), "node n1 may be alive: ibpod-sm has started "));
  bed.pass(std::chrono::seconds(30));
  sync(bed, "n1", {"a"});
  bed.pass(std::chrono::seconds(12));
  CHECK(begins(forget(),
               "node n1 is alive: it was heard of 12 s ago. To forget it would take its 1 bindings "
               "from pods that may run, and give its 1 GUIDs to other nodes while its VFs have "
               "them. Drain it and stop its agent, and try again in 48 s; or now with --force"));
  CHECK_FALSE(bed.ledger->node("n1")->forgetting);
  bed.pass(std::chrono::seconds(47));
  bed.ledger->note_heard("n1", bed.now);
  bed.pass(std::chrono::seconds(59));
  CHECK(begins(forget(), "node n1 is alive: "));
  bed.pass(std::chrono::seconds(1));
  CHECK(forget() == "done");
  CHECK(forget() == "done");  // again, while it is being forgotten

  Bed other(blue(), leases(LeaseEnd::hold));
  other.bind(request("n1", "a", vf(1), {{"blue", kLimited}}));
  CHECK(other.ledger->forget(administrator(), {"n1", false}, other.now).error().code() ==
        Code::busy);
  CHECK(other.ledger->forget(administrator(), {"n1", true}, other.now));
  CHECK(other.ledger->forget(administrator(), {"n1", false}, other.now));  // there is no way back
}

TEST_CASE("what could not be put on disk makes no node silent") {
  Bed bed(blue(), leases(LeaseEnd::hold));
  bed.bind(request("n1", "a", vf(1), {{"blue", kLimited}}));
  bed.pass(std::chrono::minutes(10));
  sync(bed, "n1", {"a"});
  REQUIRE(bed.try_bind(request("n1", "b", vf(2), {{"blue", kLimited}})));
  bed.store.fail_at(0, FakeStore::Failure::lost);
  CHECK_FALSE(bed.ledger->commit(bed.now));
  REQUIRE(bed.ledger->node("n1"));
  CHECK(bed.ledger->node("n1")->last_heard == bed.now.wall);
  CHECK(bed.ledger->forget(administrator(), {"n1", false}, bed.now).error().code() == Code::busy);
}

TEST_CASE("a node that has nothing is forgotten though it is alive: nobody loses anything by it") {
  Bed bed(blue());
  sync(bed, "n1", {});
  REQUIRE(bed.ledger->node("n1"));
  CHECK(bed.ledger->forget(administrator(), {"n1", false}, bed.now));
}

TEST_CASE("a node without bindings is forgotten at once") {
  Bed bed(blue());
  allocate(bed, vfs("n1", {0}));
  const auto gone = bed.ledger->forget(administrator(), {"n1", true}, bed.now).value();
  CHECK(gone.bindings == 0);
  CHECK(gone.guids == 0);
  bed.commit();
  CHECK_FALSE(bed.ledger->node("n1"));
  CHECK(bed.store.objects[Kind::guid].empty());
  CHECK(bed.ledger->forget(administrator(), {"n1", true}, bed.now).error().code() ==
        Code::not_found);
}

TEST_CASE("one that was interrupted while its last promise went is forgotten at the next start") {
  Bed bed(blue());
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  bed.bind(a);
  REQUIRE(bed.ledger->forget(administrator(), {"n1", true}, bed.now));
  bed.commit();
  bed.store.objects[Kind::binding].clear();
  bed.start();
  bed.commit();
  CHECK_FALSE(bed.ledger->node("n1"));
  CHECK(bed.store.objects[Kind::node].empty());
}

TEST_CASE("there are no more nodes than there may be") {
  Policy rules = policy();
  rules.limits.nodes = 1;
  Bed bed(blue(), rules);
  sync(bed, "n1", {});
  CHECK(bed.ledger->sync(node("n2"), {"n2", {}}, bed.now).error().code() == Code::busy);
  CHECK(bed.ledger->allocate(node("n2"), vfs("n2", {0})).error().code() == Code::busy);
  CHECK(bed.refusal(request("n2", "a", vf(11), {{"blue", kLimited}})).code() == Code::busy);
}

TEST_CASE("bindings are found by what is asked, page by page") {
  Bed bed;
  bed.bind(request("n1", "a", vf(1), {{"blue", kLimited}}));
  bed.bind(request("n1", "b", vf(2), {{"red", kLimited}}));
  bed.bind(request("n2", "c", vf(11), {{"blue", kLimited}, {"red", kLimited}}));
  bed.bind(request("n3", "d", vf(21), {{"blue", kLimited}}));
  bed.unbind(request("n3", "d", vf(21), {}));
  const auto listed = [&](const fabricapi::BindingFilter& filter, uint32_t size) {
    std::string seen;
    fabricapi::Page page{size, ""};
    do {
      const auto found = bed.ledger->bindings(reader(), filter, page).value();
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
    CHECK(listed({"", "", "", "", {}, State::releasing}, size) == "d");
  }
  CHECK(bed.ledger->bindings(reader(), {}, {0, "x"}).error().code() == Code::invalid);
  CHECK(bed.ledger->bindings_of(vf(11)).size() == 1);
  CHECK(bed.ledger->bindings_of(vf(12)).empty());
}

// As many as a Bind of each would be refused for, no others.
std::vector<ib::Guid> unknown(Bed& bed, const std::string& name, std::vector<ib::Guid> vfs,
                              std::vector<ib::Guid> pfs) {
  fabricapi::SyncRequest request{name, {}, std::move(vfs), std::move(pfs)};
  return bed.ledger->sync(node(name), request, bed.now).value().unknown;
}

TEST_CASE("a Sync tells which ports of a node every Bind would refuse") {
  using Guids = std::vector<ib::Guid>;
  Bed bed(blue());
  const ib::Guid given =
      bed.ledger->allocate(node("n1"), {"n1", "0000:3b:00.0", {3}}).value().front().guid;
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
  Bed strict(blue(), rules);
  CHECK(unknown(strict, "n1", {}, {pf(2), pf(9)}) == Guids{pf(2), pf(9)});
  CHECK(unknown(strict, "n2", {}, {pf(2), pf(9)}) == Guids{pf(9)});
  rules.pfs_by_first_claim = true;
  Bed claimed(blue(), rules);
  CHECK(unknown(claimed, "n1", {}, {pf(2), pf(9)}) == Guids{pf(2)});
}

TEST_CASE("where pods may choose GUIDs, a VF's own keeps nobody from a partition") {
  Policy rules = policy();
  rules.guids =
      GuidPool::make({{vf(0x1000), vf(0x1007)}, {vf(0x2000), vf(0x2007), {"lab"}}}).value();
  Bed bed(blue(), rules);
  CHECK(unknown(bed, "n1", {vf(11)}, {}).empty());
}

}  // namespace
}  // namespace ibpod::sm
