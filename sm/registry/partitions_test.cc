#include "sm/registry/test_registry.h"

namespace ibpod::sm {
namespace {

using fabric::StaticMember;

Result<fabric::TenancyStatus> create(Bed& bed, const Tenancy& partition) {
  return bed.ledger->create(administrator(), partition);
}
Result<fabric::TenancyStatus> update(Bed& bed, const Tenancy& partition) {
  return bed.ledger->update(administrator(), partition, bed.now);
}
Result<fabric::TenancyStatus> remove(Bed& bed, const std::string& name) {
  return bed.ledger->remove(administrator(), name);
}

std::string names(const Ledger& ledger) {
  std::string text;
  const auto partitions = ledger.partitions();
  for (const fabric::Partition& partition : *partitions)
    text += (text.empty() ? "" : " ") + partition.name;
  return text;
}

const fabric::Partition& told(const Ledger& ledger, const std::string& name) {
  const auto partitions = ledger.partitions();
  for (const fabric::Partition& partition : *partitions)
    if (partition.name == name) return partition;
  FAIL(name);
  return partitions->front();
}

TEST_CASE("a partition is provisioning until it has been swept, and deleting likewise") {
  Bed bed(none());
  const auto made = create(bed, tenancy("blue", 0x100)).value();
  CHECK(made.state == TenancyState::provisioning);
  CHECK(made.tenancy.pkey == ib::PKey(0x100));
  CHECK_FALSE(made.declared);
  const uint64_t version = bed.ledger->version();
  bed.ledger->note_swept(version - 1);
  CHECK(bed.state("blue") == TenancyState::provisioning);
  bed.ledger->note_swept(version);
  CHECK(bed.state("blue") == TenancyState::ready);
  CHECK(names(*bed.ledger) == "Default blue");

  CHECK(remove(bed, "blue").value().state == TenancyState::deleting);
  CHECK(names(*bed.ledger) == "Default");
  CHECK(remove(bed, "blue").value().state == TenancyState::deleting);
  CHECK(create(bed, tenancy("blue", 0x101)).error().code() == Code::busy);
  CHECK(create(bed, tenancy("other", 0x100)).error().code() == Code::busy);
  CHECK(update(bed, tenancy("blue", 0)).error().code() == Code::busy);
  CHECK(bed.refusal(request("n1", "a", vf(1), {{"blue", kLimited}})).code() == Code::busy);
  bed.ledger->note_swept(version);
  CHECK(bed.ledger->partition("blue"));
  bed.ledger->note_swept(bed.ledger->version());
  CHECK_FALSE(bed.ledger->partition("blue"));
  bed.commit();
  CHECK(bed.store.objects[Kind::partition].empty());
  CHECK(create(bed, tenancy("other", 0x100)));
}

TEST_CASE("what is told of a partition is the fabric's where it says nothing") {
  Policy rules = policy();
  rules.group.mtu = fabric::Mtu::mtu_4096;
  rules.group.sl = 3;
  rules.ipoib = true;
  Bed bed({tenancy("plain", 0x100)}, rules);
  CHECK(told(*bed.ledger, "plain").group == rules.group);
  CHECK(told(*bed.ledger, "plain").ipoib);
  CHECK(bed.ledger->partitions()->front() == rules.default_rule);
  Tenancy own = tenancy("own", 0x101);
  own.mtu = fabric::Mtu::mtu_1024;
  own.rate = fabric::Rate(7);
  own.sl = 0;
  own.ipoib = false;
  own.index0 = true;
  own.members = {{storage(2), kFull, "b"}, {storage(1), kBoth, ""}};
  bed.create(own);
  fabric::Partition want;
  want.name = "own";
  want.pkey = ib::PKey(0x101);
  want.index0 = true;
  want.group.mtu = fabric::Mtu::mtu_1024;
  want.group.rate = fabric::Rate(7);
  want.members = {{storage(1), kBoth}, {storage(2), kFull}};
  CHECK(told(*bed.ledger, "own") == want);
  CHECK(fabric::check(want));
}

TEST_CASE("members are told in order, each once, as they are now") {
  Tenancy blue = tenancy("blue", 0x100);
  blue.members = {{pf(1), kFull, ""}, {storage(1), kLimited, ""}};
  Bed bed({blue});
  bed.bind(request("n1", "b", vf(2), {{"blue", kLimited}}));
  bed.bind(request("n1", "a", vf(1), {{"blue", kFull}}));
  bed.bind(child("n1", "c", pf(1), {{"blue", kFull}}));
  const std::vector<fabric::Member> want{
      {pf(1), kFull}, {storage(1), kLimited}, {vf(1), kFull}, {vf(2), kLimited}};
  CHECK(told(*bed.ledger, "blue").members == want);
  const auto partitions = bed.ledger->partitions();
  CHECK(bed.ledger->partitions() == partitions);
  bed.unbind(child("n1", "c", pf(1), {}));
  CHECK(bed.ledger->partitions() == partitions);
  CHECK(told(*bed.ledger, "blue").members == want);
  CHECK(bed.ledger->partition("blue")->bindings == 3);
}

TEST_CASE("a P_Key is given from the pool, or named within a range for it") {
  Bed bed(none());
  const auto pkey = [&](const std::string& name) {
    return create(bed, tenancy(name, 0)).value().tenancy.pkey->value();
  };
  CHECK(pkey("a") == 0x10);
  CHECK(pkey("b") == 0x11);
  REQUIRE(remove(bed, "a"));
  CHECK(pkey("c") == 0x12);
  bed.settle();
  // One that has become free is used last, after a restart, too.
  bed.start();
  CHECK(pkey("d") == 0x13);
  CHECK(pkey("e") == 0x10);
  CHECK(create(bed, tenancy("f", 0)).error().code() == Code::busy);
  REQUIRE(remove(bed, "b"));
  CHECK(create(bed, tenancy("f", 0)).error().code() == Code::busy);

  CHECK(create(bed, tenancy("g", 0x12)).error().code() == Code::exists);
  CHECK(create(bed, tenancy("g", 0x200)).error().code() == Code::invalid);
  CHECK(create(bed, tenancy("g", 0x7fff)).error().code() == Code::invalid);
  CHECK(create(bed, tenancy("g", 0x8100)).error().code() == Code::invalid);
  CHECK(create(bed, tenancy("g", 0x100)).value().tenancy.pkey == ib::PKey(0x100));
  CHECK(create(bed, tenancy("h", 0x100)).error().code() == Code::exists);
  CHECK(create(bed, tenancy("h", 0x100)).error().text() ==
        "partition h: P_Key 0x0100 is that of partition g");
  CHECK(create(bed, tenancy("g", 0x101)).error().code() == Code::exists);
}

TEST_CASE("everything of a partition can be changed but its P_Key") {
  Bed bed;
  Tenancy blue = tenancy("blue", 0, {"team"});
  const uint64_t version = bed.ledger->version();
  REQUIRE(update(bed, blue));
  CHECK(bed.ledger->version() == version);
  CHECK(bed.state("blue") == TenancyState::ready);
  blue.ipoib = true;
  CHECK(update(bed, blue).value().tenancy.pkey == ib::PKey(0x100));
  CHECK(bed.ledger->version() > version);
  CHECK(bed.state("blue") == TenancyState::provisioning);
  CHECK(told(*bed.ledger, "blue").ipoib);
  blue.pkey = ib::PKey(0x100);
  CHECK(update(bed, blue));
  blue.pkey = ib::PKey(0x102);
  CHECK(update(bed, blue).error().code() == Code::invalid);
  CHECK(update(bed, tenancy("none", 0)).error().code() == Code::not_found);
  CHECK(remove(bed, "none").error().code() == Code::not_found);
  bed.commit();
  bed.start();
  CHECK(bed.ledger->partition("blue")->tenancy.allowed == std::vector<std::string>{"team"});
  CHECK(bed.ledger->partition("blue")->tenancy.ipoib == true);
}

TEST_CASE("who is in a partition stays in it when its namespace is no longer allowed") {
  Bed bed({tenancy("blue", 0x100, {"team"}), tenancy("red", 0x101)});
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  bed.bind(a);
  REQUIRE(update(bed, tenancy("blue", 0, {})));
  CHECK(bed.keys(vf(1)) == "0x0100");
  bed.bind(a);
  bed.bind(request("n1", "a", vf(1), {{"blue", kLimited}, {"red", kLimited}}));
  CHECK(bed.refusal(request("n1", "a", vf(1), {{"blue", kFull}})).code() == Code::denied);
  CHECK(bed.refusal(request("n1", "b", vf(2), {{"blue", kLimited}})).code() == Code::denied);
}

TEST_CASE("a static member's key has to be seen to be gone before it is another partition's") {
  Tenancy blue = tenancy("blue", 0x100);
  blue.members = {{storage(1), kFull, "filer"}, {storage(2), kFull, "filer"}};
  Bed bed({blue});
  CHECK(bed.keys(storage(1)) == "0x8100");
  CHECK(bed.ledger->unsettled().empty());
  // One was taken out before, and was switched off.
  blue.members.pop_back();
  REQUIRE(update(bed, blue));
  CHECK(bed.ledger->unsettled() == std::set{storage(2)});
  CHECK_FALSE(bed.ledger->expected(storage(2)).leaving.empty());
  REQUIRE(remove(bed, "blue"));
  CHECK(bed.ledger->unsettled() == std::set{storage(1), storage(2)});
  bed.sweep();
  CHECK(bed.see(storage(1)));
  bed.start();
  bed.sweep();
  const auto waiting = bed.ledger->partition("blue").value();
  CHECK(waiting.state == TenancyState::deleting);
  CHECK(waiting.standing.text ==
        "ports that may hold its key have not been seen without it: 00:02:c9:03:10:00:00:02");
  CHECK(create(bed, tenancy("red", 0x100)).error().code() == Code::busy);
  bed.ledger->note_trouble(storage(2), {Reason::timeout, ""}, bed.now);
  bed.sweep();
  CHECK(bed.ledger->partition("blue"));
  CHECK(bed.see(storage(2)));
  CHECK_FALSE(bed.ledger->partition("blue"));
  CHECK(create(bed, tenancy("red", 0x100)));
}

TEST_CASE(
    "what is wrong with a static member's port stands at its partition until it is seen well") {
  Tenancy blue = tenancy("blue", 0x100);
  blue.members = {{storage(1), kFull, ""}};
  Bed bed({blue});
  const auto reason = [&] { return bed.ledger->partition("blue")->standing.reason; };
  CHECK(bed.see(storage(1)));
  CHECK(reason() == Reason::none);
  // What is not the port's fault is not told of it.
  for (const Reason waiting : {Reason::waiting, Reason::no_master, Reason::misconfigured}) {
    bed.ledger->note_trouble(storage(1), {waiting, ""}, bed.now);
    CHECK(reason() == Reason::none);
  }
  bed.ledger->note_trouble(storage(1), {Reason::missing_key, "lacks it"}, bed.now);
  CHECK(reason() == Reason::missing_key);
  bed.ledger->note_trouble(storage(1), {Reason::capacity, "no free place"}, bed.now);
  CHECK(reason() == Reason::capacity);
  // Nor is it forgotten by what the store could not keep.
  REQUIRE(bed.ledger->create(administrator(), tenancy("red", 0x101)));
  bed.store.fail_at(0, FakeStore::Failure::lost);
  CHECK_FALSE(bed.ledger->commit(bed.now));
  CHECK(reason() == Reason::capacity);
  CHECK(bed.see(storage(1)));
  CHECK(reason() == Reason::none);
}

TEST_CASE("a partition is not gone before it has been swept, whatever has been seen") {
  Tenancy blue = tenancy("blue", 0x100);
  blue.members = {{storage(1), kFull, ""}};
  Bed bed({blue});
  REQUIRE(remove(bed, "blue"));
  CHECK(bed.see(storage(1)));
  CHECK(bed.ledger->partition("blue"));
  bed.sweep();
  CHECK_FALSE(bed.ledger->partition("blue"));
}

TEST_CASE("one that comes back to where it was leaving stays") {
  Tenancy blue = tenancy("blue", 0x100);
  blue.members = {{storage(1), kFull, ""}};
  Bed bed({blue});
  REQUIRE(update(bed, tenancy("blue", 0)));
  REQUIRE(update(bed, blue));
  CHECK(bed.ledger->unsettled().empty());
  CHECK(bed.keys(storage(1)) == "0x8100");
}

TEST_CASE("no partition in use is deleted") {
  Bed bed;
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  bed.bind(a);
  CHECK(remove(bed, "blue").error().code() == Code::busy);
  bed.unbind(a);
  CHECK(remove(bed, "blue").error().code() == Code::busy);
  CHECK(remove(bed, "blue").error().text() ==
        "partition blue: 1 binding is in it, or was and is not released yet (`ibpodctl binding "
        "list --partition blue`)");
  bed.settle();
  CHECK(remove(bed, "blue"));
}

TEST_CASE("a partition that cannot come into force says why until it can") {
  Bed bed;
  bed.create(tenancy("green", 0x102));
  bed.ledger->note_hindrance({Reason::misconfigured, "the disk is full"});
  CHECK(bed.state("green") == TenancyState::error);
  CHECK(bed.ledger->partition("green")->standing.text == "the disk is full");
  CHECK(bed.state("blue") == TenancyState::ready);
  bed.ledger->note_hindrance({});
  CHECK(bed.state("green") == TenancyState::provisioning);
  bed.ledger->note_hindrance({Reason::no_master, ""});
  bed.sweep();
  bed.ledger->note_hindrance({});
  CHECK(bed.state("green") == TenancyState::ready);
}

TEST_CASE("what no fabric could grant is refused, and there are no more partitions than may be") {
  Policy rules = policy();
  rules.limits.partitions = 2;
  rules.limits.members = 1;
  Bed bed({tenancy("a", 0x100)}, rules);
  CHECK(create(bed, tenancy("Default", 0x101)).error().code() == Code::invalid);
  Tenancy many = tenancy("b", 0x101);
  many.members = {{storage(1), kFull, ""}, {storage(2), kFull, ""}};
  CHECK(create(bed, many).error().code() == Code::invalid);
  many.members.pop_back();
  CHECK(create(bed, many));
  CHECK(create(bed, tenancy("c", 0x102)).error().code() == Code::busy);
}

TEST_CASE("partitions are listed page by page") {
  Bed bed({tenancy("a", 0x100), tenancy("b", 0x101), tenancy("c", 0x102)});
  std::string seen;
  fabricapi::Page page{2, ""};
  do {
    const auto listed = bed.ledger->partitions(reader(), page).value();
    CHECK(listed.items.size() <= 2);
    for (const auto& item : listed.items) seen += item.tenancy.name;
    page.token = listed.next;
  } while (!page.token.empty());
  CHECK(seen == "abc");
}

}  // namespace
}  // namespace ibpod::sm
