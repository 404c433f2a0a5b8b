// Limits of the memberships of nodes, which keep partitions.conf from becoming too large.
#include "lib/fabric/partitions_conf_writer.h"
#include "tests/support/registry_fixture.h"

namespace ibpod::sm::bindings {
namespace {

using namespace test;

Fixture bed_with(size_t of_node, size_t all) {
  Policy rules = policy();
  rules.limits.memberships_of_node = of_node;
  rules.limits.memberships = all;
  return Fixture(
      {make_partition("blue", 0x100), make_partition("red", 0x101), make_partition("green", 0x102)},
      std::move(rules));
}

BindRequest all_three(const std::string& node, const std::string& container, ib::Guid guid) {
  return request(node, container, guid,
                 {{"blue", kLimited}, {"green", kLimited}, {"red", kLimited}});
}

size_t members_told(const Fixture& bed) {
  size_t members = 0;
  for (const fabric::PartitionDefinition& definition :
       *bed.registry->partitions.view().definitions())
    for (const fabric::Member& member : definition.members) members += member.port.group() ? 0 : 1;
  return members;
}

TEST_CASE("the memberships of a node are limited, and the error names the limit") {
  Fixture bed = bed_with(4, 100);
  bed.bind(all_three("n1", "a", vf(1)));
  const Error refused = bed.refusal(all_three("n1", "b", vf(2)));
  CHECK(refused.code() == Code::busy);
  for (const char* word : {"node n1", "6 memberships", "reached (4)", "limits.membershipsOfNode"})
    CHECK_MESSAGE(refused.text().find(word) != std::string::npos, refused.text());
  bed.bind(request("n1", "b", vf(2), {{"blue", kLimited}}));
  CHECK_FALSE(bed.try_bind(request("n1", "c", vf(3), {{"blue", kLimited}})));
  CHECK_MESSAGE(bed.try_bind(all_three("n2", "a", vf(11))), "another node's are not touched");
}

TEST_CASE("a binding that stays as it is, or becomes less, and an end are never refused for size") {
  Fixture bed = bed_with(3, 100);
  const BindRequest a = all_three("n1", "a", vf(1));
  bed.bind(a);
  // Another ibpod-sm with lower limits, which the bindings already exceed.
  bed.settings.limits.memberships_of_node = 1;
  bed.settings.limits.memberships = 1;
  bed.start();
  CHECK(bed.try_bind(a));
  CHECK_FALSE(bed.try_bind(request("n1", "b", vf(2), {{"blue", kLimited}})));
  CHECK_FALSE(bed.try_bind(request("n2", "a", vf(11), {{"blue", kLimited}})));
  bed.bind(request("n1", "a", vf(1), {{"blue", kLimited}, {"red", kLimited}}));
  CHECK_FALSE(bed.try_bind(a));
  CHECK(bed.unbind(a).state == BindingState::releasing);
  bed.settle();
  CHECK(bed.state(a) == BindingState::released);
  bed.bind(request("n2", "a", vf(11), {{"blue", kLimited}}));
}

TEST_CASE("what is released gives its memberships back at once: it is in no file any more") {
  Fixture bed = bed_with(3, 100);
  const BindRequest a = all_three("n1", "a", vf(1));
  bed.bind(a);
  CHECK_FALSE(bed.try_bind(all_three("n1", "b", vf(2))));
  bed.unbind(a);
  bed.bind(all_three("n1", "b", vf(2)));
}

TEST_CASE("children of one port in one partition are one membership") {
  Fixture bed = bed_with(2, 100);
  bed.bind(child("n1", "a", pf(1), {{"blue", kLimited}}));
  bed.bind(child("n1", "b", pf(1), {{"blue", kLimited}, {"red", kLimited}}));
  bed.bind(child("n1", "c", pf(1), {{"red", kLimited}}));
  CHECK_FALSE(bed.try_bind(child("n1", "d", pf(1), {{"green", kLimited}})));
  bed.unbind(child("n1", "b", pf(1), {}));
  CHECK_FALSE(bed.try_bind(child("n1", "d", pf(1), {{"green", kLimited}})));
  bed.unbind(child("n1", "c", pf(1), {}));
  bed.bind(child("n1", "d", pf(1), {{"green", kLimited}}));
}

TEST_CASE("the memberships of all nodes together are limited") {
  Fixture bed = bed_with(100, 7);
  bed.bind(all_three("n1", "a", vf(1)));
  bed.bind(all_three("n2", "a", vf(11)));
  const Error refused = bed.refusal(all_three("n3", "a", vf(21)));
  CHECK(refused.code() == Code::busy);
  for (const char* word :
       {"9 memberships", "limit of all nodes reached (7", "bytes of partitions.conf"})
    CHECK_MESSAGE(refused.text().find(word) != std::string::npos, refused.text());
  bed.bind(request("n3", "a", vf(21), {{"blue", kLimited}}));
}

TEST_CASE("the count is that of the rendered members, also after a restart and a failed commit") {
  Fixture bed = bed_with(8, 8);
  bed.bind(all_three("n1", "a", vf(1)));
  bed.bind(all_three("n1", "b", vf(2)));
  bed.bind(request("n1", "c", vf(3), {{"blue", kLimited}, {"red", kLimited}}));
  CHECK(members_told(bed) == 8);
  bed.start();
  CHECK_FALSE(bed.try_bind(request("n1", "d", vf(4), {{"blue", kLimited}})));
  bed.unbind(request("n1", "c", vf(3), {}));
  CHECK(members_told(bed) == 6);
  REQUIRE(bed.try_bind(request("n1", "d", vf(4), {{"blue", kLimited}, {"red", kLimited}})));
  bed.store.fail_at(0, FakeStore::Failure::full);
  CHECK_FALSE(bed.registry->journal.commit(bed.now).status);
  bed.store.fail_no_more();
  bed.bind(request("n1", "e", vf(5), {{"blue", kLimited}, {"red", kLimited}}));
  CHECK_FALSE(bed.try_bind(request("n1", "d", vf(4), {{"blue", kLimited}})));
}

TEST_CASE(
    "the limit of all is what the file has room for, with a quarter kept for administrators") {
  const state::RegistryLimits limits;
  CHECK(limits.memberships * fabric::kMostMemberBytes <= fabric::kMostBytes / 4 * 3);
  CHECK(limits.memberships > 400'000);
  // The longest lines that the writer writes.
  fabric::PartitionDefinition one = fabric::default_definition();
  one.name = std::string(fabric::kMostName, 'x');
  one.index0 = one.ipoib = true;
  one.group.mtu = fabric::Mtu::mtu_4096;
  one.group.rate = fabric::kLastRate;
  one.group.sl = 15;
  one.group.scopes = 0xfffe;
  one.group.q_key = one.group.flow_label = 0xfffff;
  one.group.tclass = 255;
  one.members = {{ib::Guid(~uint64_t{0}), kLimited}};
  const size_t with_one = fabric::text_of(one).size();
  one.members.push_back({ib::Guid(1), kLimited});
  CHECK(fabric::text_of(one).size() == with_one + fabric::kMostMemberBytes);
  one.members.back().skip_index0 = true;  // in a definition of its own
  CHECK(fabric::text_of(one).size() <= fabric::kMostHeadBytes + 2 * fabric::kMostMemberBytes);
}

TEST_CASE("static members count for the file's size, and an administrator's section, too") {
  Fixture bed = bed_with(100, state::RegistryLimits().memberships);
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  bed.facts.manual_bytes = fabric::kMostBytes;
  CHECK(bed.refusal(a).code() == Code::busy);
  bed.facts.manual_bytes = fabric::kMostBytes - 5 * fabric::kMostHeadBytes;
  CHECK(bed.try_bind(a));
  bed.commit();
  Partition blue = make_partition("blue", 0);
  for (uint64_t n = 1; n <= 100; ++n) blue.members.push_back({storage(n), kLimited, ""});
  REQUIRE(bed.registry->partitions.update(blue, bed.now));
  CHECK_FALSE(bed.try_bind(request("n1", "b", vf(2), {{"red", kLimited}})));
  blue.members.clear();
  REQUIRE(bed.registry->partitions.update(blue, bed.now));
  CHECK(bed.try_bind(request("n1", "b", vf(2), {{"red", kLimited}})));
}

}  // namespace
}  // namespace ibpod::sm::bindings
