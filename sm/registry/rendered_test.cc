// What a change would make of the partitions, and that it is what it makes of them.
#include "sm/registry/test_registry.h"

namespace ibpod::sm {
namespace {

using Partitions = std::vector<fabric::Partition>;

// As it is foretold, which changes nothing, and as it is then; or why not.
struct Change {
  Result<Partitions> foretold;
  Result<Partitions> made;
};

void check_same(const Change& change) {
  REQUIRE(change.foretold.ok() == change.made.ok());
  if (change.made)
    CHECK(*change.foretold == *change.made);
  else
    CHECK(change.foretold.error().text() == change.made.error().text());
}

template <typename Asked>
Change change(Bed& bed, Result<Partitions> foretold, Asked asked) {
  CHECK_FALSE(bed.ledger->staged());
  const auto done = asked();
  if (!done) return {std::move(foretold), done.error()};
  bed.commit();
  return {std::move(foretold), *bed.ledger->partitions()};
}

Code create(Bed& bed, const Tenancy& tenancy) {
  const Change made = change(bed, bed.ledger->after_create(tenancy),
                             [&] { return bed.ledger->create(administrator(), tenancy); });
  check_same(made);
  return made.made ? Code::internal : made.made.error().code();
}
Code update(Bed& bed, const Tenancy& tenancy) {
  const Change made = change(bed, bed.ledger->after_update(tenancy),
                             [&] { return bed.ledger->update(administrator(), tenancy, bed.now); });
  check_same(made);
  return made.made ? Code::internal : made.made.error().code();
}
Code remove(Bed& bed, const std::string& name) {
  const Change made = change(bed, bed.ledger->after_remove(name),
                             [&] { return bed.ledger->remove(administrator(), name); });
  check_same(made);
  return made.made ? Code::internal : made.made.error().code();
}
constexpr Code kDone = Code::internal;  // no request is refused with it

Policy grouped() {
  Policy rules = policy();
  rules.group.mtu = fabric::Mtu::mtu_4096;
  return rules;
}

TEST_CASE("what a new partition would be is what it is") {
  Bed bed({tenancy("red", 0x101)}, grouped());
  bed.ledger->leave_alone({0x102});
  Tenancy blue = tenancy("blue", 0x100);
  blue.members = {{storage(2), kFull, ""}, {storage(1), kLimited, ""}};
  blue.ipoib = blue.index0 = true;
  CHECK(create(bed, blue) == kDone);
  CHECK(create(bed, tenancy("a", 0)) == kDone);
  CHECK(create(bed, tenancy("z", 0)) == kDone);
  CHECK(create(bed, blue) == Code::exists);
  CHECK(create(bed, tenancy("x", 0x100)) == Code::exists);
  CHECK(create(bed, tenancy("x", 0x102)) == Code::exists);
  CHECK(create(bed, tenancy("x", 0x300)) == Code::invalid);
  CHECK(create(bed, tenancy("no name", 0)) == Code::invalid);
  CHECK(create(bed, tenancy("y", 0)) == kDone);
  CHECK(create(bed, tenancy("w", 0)) == kDone);
  CHECK_MESSAGE(create(bed, tenancy("x", 0)) == Code::busy, "no key is left");
}

TEST_CASE("what a changed partition would be is what it becomes, with who is bound to it") {
  Tenancy blue = tenancy("blue", 0x100);
  blue.members = {{storage(1), kFull, ""}, {pf(1), kFull, ""}};
  blue.mtu = fabric::Mtu::mtu_1024;
  Bed bed({blue, tenancy("red", 0x101)}, grouped());
  bed.bind(request("n1", "a", vf(1), {{"blue", kFull}}));
  bed.bind(child("n1", "b", pf(1), {{"blue", kFull}}));
  bed.bind(request("n2", "c", vf(11), {{"blue", kLimited}}));
  bed.settle();
  bed.unbind(request("n2", "c", vf(11), {}));
  bed.bind(request("n3", "d", vf(21), {{"red", kLimited}}));
  bed.settle();
  bed.bind(request("n3", "d", vf(21), {{"blue", kLimited}}));  // not before red is gone from it
  bed.unbind(request("n1", "a", vf(1), {}));                   // not seen to be gone yet

  blue.mtu.reset();
  CHECK(update(bed, blue) == kDone);
  CHECK(bed.ledger->partitions()->at(1).group.mtu == fabric::Mtu::mtu_4096);
  blue.members = {{storage(2), kLimited, ""}};
  CHECK(update(bed, blue) == kDone);
  blue.members = {{pf(1), kLimited, ""}};
  CHECK_MESSAGE(update(bed, blue) == Code::busy, "it is full there by its binding");
  blue.members = {{pf(1), kFull, ""}};
  CHECK(update(bed, blue) == kDone);
  CHECK(update(bed, tenancy("blue", 0x101)) == Code::invalid);
  CHECK(update(bed, tenancy("none", 0)) == Code::not_found);
}

TEST_CASE("what is there without a partition is what is left of them") {
  Bed bed({tenancy("blue", 0x100), tenancy("red", 0x101)});
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  bed.bind(a);
  CHECK(remove(bed, "blue") == Code::busy);
  CHECK(remove(bed, "none") == Code::not_found);
  CHECK(remove(bed, "Default") == Code::not_found);
  bed.unbind(a);
  bed.settle();
  CHECK(remove(bed, "blue") == kDone);
  CHECK_MESSAGE(remove(bed, "blue") == kDone, "it is being deleted");
  CHECK(update(bed, tenancy("blue", 0)) == Code::busy);
  REQUIRE(bed.ledger->declare({tenancy("red", 0x101)}, bed.now));
  bed.commit();
  CHECK(remove(bed, "red") == Code::denied);
  CHECK(update(bed, tenancy("red", 0)) == Code::denied);
}

}  // namespace
}  // namespace ibpod::sm
