// The partitions predicted for a change are equal to those after it.
#include "tests/support/registry_fixture.h"

namespace ibpod::sm::partitions {
namespace {

using namespace test;

using Partitions = std::vector<fabric::PartitionDefinition>;

// A change: its prediction, which changes nothing, and its result; or its error.
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
Change change(Fixture& bed, Result<Partitions> foretold, Asked asked) {
  CHECK_FALSE(bed.registry->journal.commit(bed.now).wrote);
  const auto done = asked();
  if (!done) return {std::move(foretold), done.error()};
  bed.commit();
  return {std::move(foretold), *bed.registry->partitions.view().definitions()};
}

Code create(Fixture& bed, const Partition& partition) {
  const Change made = change(bed, bed.registry->partitions.after_create(partition),
                             [&] { return bed.registry->partitions.create(partition); });
  check_same(made);
  return made.made ? Code::internal : made.made.error().code();
}
Code update(Fixture& bed, const Partition& partition) {
  const Change made = change(bed, bed.registry->partitions.after_update(partition),
                             [&] { return bed.registry->partitions.update(partition, bed.now); });
  check_same(made);
  return made.made ? Code::internal : made.made.error().code();
}
Code remove(Fixture& bed, const std::string& name) {
  const Change made = change(bed, bed.registry->partitions.after_remove(name),
                             [&] { return bed.registry->partitions.remove(name); });
  check_same(made);
  return made.made ? Code::internal : made.made.error().code();
}
constexpr Code kDone = Code::internal;  // no request is refused with this code

Policy grouped() {
  Policy rules = policy();
  rules.group.mtu = fabric::Mtu::mtu_4096;
  return rules;
}

TEST_CASE("what a new partition would be is what it is") {
  Fixture bed({make_partition("red", 0x101)}, grouped());
  bed.registry->partitions.reserve_pkeys({0x102});
  Partition blue = make_partition("blue", 0x100);
  blue.members = {{storage(2), kFull, ""}, {storage(1), kLimited, ""}};
  blue.ipoib = blue.index0 = true;
  CHECK(create(bed, blue) == kDone);
  CHECK(create(bed, make_partition("a", 0)) == kDone);
  CHECK(create(bed, make_partition("z", 0)) == kDone);
  CHECK(create(bed, blue) == Code::exists);
  CHECK(create(bed, make_partition("x", 0x100)) == Code::exists);
  CHECK(create(bed, make_partition("x", 0x102)) == Code::exists);
  CHECK(create(bed, make_partition("x", 0x300)) == Code::invalid);
  CHECK(create(bed, make_partition("no name", 0)) == Code::invalid);
  CHECK(create(bed, make_partition("y", 0)) == kDone);
  CHECK(create(bed, make_partition("w", 0)) == kDone);
  CHECK_MESSAGE(create(bed, make_partition("x", 0)) == Code::busy, "no key is left");
}

TEST_CASE("a changed partition becomes what was rendered before, with its bindings") {
  Partition blue = make_partition("blue", 0x100);
  blue.members = {{storage(1), kFull, ""}, {pf(1), kFull, ""}};
  blue.mtu = fabric::Mtu::mtu_1024;
  Fixture bed({blue, make_partition("red", 0x101)}, grouped());
  bed.bind(request("n1", "a", vf(1), {{"blue", kFull}}));
  bed.bind(child("n1", "b", pf(1), {{"blue", kFull}}));
  bed.bind(request("n2", "c", vf(11), {{"blue", kLimited}}));
  bed.settle();
  bed.unbind(request("n2", "c", vf(11), {}));
  bed.bind(request("n3", "d", vf(21), {{"red", kLimited}}));
  bed.settle();
  bed.bind(request("n3", "d", vf(21), {{"blue", kLimited}}));  // after red has left the port
  bed.unbind(request("n1", "a", vf(1), {}));                   // not yet observed to be gone

  blue.mtu.reset();
  CHECK(update(bed, blue) == kDone);
  CHECK(bed.registry->partitions.view().definitions()->at(1).group.mtu == fabric::Mtu::mtu_4096);
  blue.members = {{storage(2), kLimited, ""}};
  CHECK(update(bed, blue) == kDone);
  blue.members = {{pf(1), kLimited, ""}};
  CHECK_MESSAGE(update(bed, blue) == Code::busy, "it is full there by its binding");
  blue.members = {{pf(1), kFull, ""}};
  CHECK(update(bed, blue) == kDone);
  CHECK(update(bed, make_partition("blue", 0x101)) == Code::invalid);
  CHECK(update(bed, make_partition("none", 0)) == Code::not_found);
}

TEST_CASE("what is there without a partition is what is left of them") {
  Fixture bed({make_partition("blue", 0x100), make_partition("red", 0x101)});
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  bed.bind(a);
  CHECK(remove(bed, "blue") == Code::busy);
  CHECK(remove(bed, "none") == Code::not_found);
  CHECK(remove(bed, "Default") == Code::not_found);
  bed.unbind(a);
  bed.settle();
  CHECK(remove(bed, "blue") == kDone);
  CHECK_MESSAGE(remove(bed, "blue") == kDone, "it is being deleted");
  CHECK(update(bed, make_partition("blue", 0)) == Code::busy);
  REQUIRE(bed.registry->partitions.declarations().declare({make_partition("red", 0x101)}, bed.now));
  bed.commit();
  CHECK(remove(bed, "red") == Code::denied);
  CHECK(update(bed, make_partition("red", 0)) == Code::denied);
}

}  // namespace
}  // namespace ibpod::sm::partitions
