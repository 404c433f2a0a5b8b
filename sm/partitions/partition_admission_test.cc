#include "sm/partitions/partition_admission.h"

#include "tests/support/registry_fixture.h"

namespace ibpod::sm::partitions {
namespace {

using namespace test;

Result<fabric::PartitionStatus> create(Fixture& bed, const Partition& partition) {
  return bed.registry->partitions.create(partition);
}
Result<fabric::PartitionStatus> remove(Fixture& bed, const std::string& name) {
  return bed.registry->partitions.remove(name);
}

TEST_CASE("a P_Key is given from the pool, or named within a range for it") {
  Fixture bed(none());
  const auto pkey = [&](const std::string& name) {
    return create(bed, make_partition(name, 0)).value().spec.pkey->value();
  };
  CHECK(pkey("a") == 0x10);
  CHECK(pkey("b") == 0x11);
  REQUIRE(remove(bed, "a"));
  CHECK(pkey("c") == 0x12);
  bed.settle();
  // A P_Key that has become free is used last, after a restart, too.
  bed.start();
  CHECK(pkey("d") == 0x13);
  CHECK(pkey("e") == 0x10);
  CHECK(create(bed, make_partition("f", 0)).error().code() == Code::busy);
  REQUIRE(remove(bed, "b"));
  CHECK(create(bed, make_partition("f", 0)).error().code() == Code::busy);

  CHECK(create(bed, make_partition("g", 0x12)).error().code() == Code::exists);
  CHECK(create(bed, make_partition("g", 0x200)).error().code() == Code::invalid);
  CHECK(create(bed, make_partition("g", 0x7fff)).error().code() == Code::invalid);
  CHECK(create(bed, make_partition("g", 0x8100)).error().code() == Code::invalid);
  CHECK(create(bed, make_partition("g", 0x100)).value().spec.pkey == ib::PKey(0x100));
  CHECK(create(bed, make_partition("h", 0x100)).error().code() == Code::exists);
  CHECK(create(bed, make_partition("h", 0x100)).error().text() ==
        "partition h: P_Key 0x0100 is already used by partition g");
  CHECK(create(bed, make_partition("g", 0x101)).error().code() == Code::exists);
}

TEST_CASE("what no fabric could grant is refused, and there are no more partitions than may be") {
  Policy rules = policy();
  rules.limits.partitions = 2;
  rules.limits.members = 1;
  Fixture bed({make_partition("a", 0x100)}, rules);
  CHECK(create(bed, make_partition("Default", 0x101)).error().code() == Code::invalid);
  Partition many = make_partition("b", 0x101);
  many.members = {{storage(1), kFull, ""}, {storage(2), kFull, ""}};
  CHECK(create(bed, many).error().code() == Code::invalid);
  many.members.pop_back();
  CHECK(create(bed, many));
  CHECK(create(bed, make_partition("c", 0x102)).error().code() == Code::busy);
}

TEST_CASE("a partition names clusters that are there, in one spelling") {
  Policy rules = policy();
  rules.clusters = {"prod", {"dev"}};
  Fixture bed({make_partition("a", 0x100)}, rules);
  Partition partition = make_partition("b", 0x101, {"team", "dev/team", "*/shared", "dev/*"});
  partition.nodes = {"n*", "dev/n*", "*/n1"};
  CHECK(create(bed, partition));
  const auto refusal = [&](const std::vector<std::string>& allowed,
                           const std::vector<std::string>& nodes) {
    Partition other = make_partition("a", 0, allowed);
    other.nodes = nodes;
    return bed.registry->partitions.update(other, bed.now).error().text();
  };
  CHECK(refusal({"team", "stage/team"}, {}) ==
        R"(partition a: allowed: expected dev before the '/', or a name of the default cluster, )"
        R"(got "stage/team": "clusters" of ibpod-sm's configuration has no other cluster)");
  CHECK(refusal({"prod/team"}, {}) ==
        R"(partition a: allowed: expected "team", got "prod/team": prod is the default cluster, )"
        "whose names have no cluster in front");
  CHECK(refusal({}, {"prod/n1"}).starts_with(R"(partition a: nodes: expected "n1", got )"));
  // One whose cluster is no longer configured stays as it is.
  bed.commit();
  bed.settings.clusters = {};
  bed.start();
  CHECK(bed.registry->partitions.view().find("b")->spec.allowed == partition.allowed);
}

TEST_CASE("a P_Key of the administrator's section is given to no partition") {
  const Fixture bed(none());
  PartitionAdmission admission(bed.registry->journal);
  admission.reserve_pkeys({0x10, 0x100});
  CHECK(admission.admit_new(make_partition("a", 0)).value().pkey == ib::PKey(0x11));
  CHECK(admission.admit_new(make_partition("a", 0x101)).value().pkey == ib::PKey(0x101));
  CHECK(admission.admit_new(make_partition("a", 0x100)).error().code() == Code::exists);
  admission.reserve_pkeys({});
  CHECK(admission.admit_new(make_partition("a", 0x100)));
  CHECK(admission.admit_new(make_partition("a", 0)).value().pkey == ib::PKey(0x10));
}

TEST_CASE("an admitted change has the P_Key that the partition has") {
  Fixture bed;
  const PartitionAdmission admission(bed.registry->journal);
  const state::PartitionRecord& blue = *bed.registry->journal.records().find_partition("blue");
  Partition changed = make_partition("blue", 0, {"team"});
  CHECK(admission.admit_change(blue, changed).value().pkey == ib::PKey(0x100));
  CHECK(admission.admit_change(blue, changed).value().allowed == changed.allowed);
  CHECK(admission.admit_change(blue, make_partition("blue", 0x101)).error().code() ==
        Code::invalid);
  REQUIRE(remove(bed, "blue"));
  CHECK(admission.admit_change(blue, changed).error().code() == Code::busy);
}

TEST_CASE("a value that the subnet manager cannot be given is refused, with the reason") {
  Policy rules = policy();
  rules.unsupported = {.both = "is not possible here",
                       .sl = "it is set elsewhere: leave it out",
                       .group = "it is set there: leave it out"};
  Fixture bed(none(), rules);
  Partition both = make_partition("blue", 0x100);
  both.membership = kBoth;
  CHECK(create(bed, both).error().text() ==
        "partition blue: membership \"both\" is not possible here; use limited or full");
  const auto refusal = [&](const auto& change) {
    Partition one = make_partition("blue", 0x100);
    change(one);
    const auto made = create(bed, one);
    return made ? std::string() : made.error().text();
  };
  CHECK(refusal([](Partition& one) { one.sl = 3; }) ==
        "partition blue: sl: 3, and it is set elsewhere: leave it out");
  CHECK(refusal([](Partition& one) { one.mtu = fabric::Mtu::mtu_4096; }) ==
        "partition blue: mtu: 4096, and it is set there: leave it out");
  CHECK(refusal([](Partition& one) { one.rate = fabric::Rate(7); }) ==
        "partition blue: rate: 40, and it is set there: leave it out");
  CHECK(refusal([](Partition& one) { one.sl = 0; }).empty());
}

TEST_CASE("values that OpenSM would change are refused") {
  Policy rules = policy();
  rules.unsupported.both = "needs opensm.allowBothPkeys";
  rules.unsupported.sl = "needs opensm.qos";
  const Fixture bed(none(), rules);
  const PartitionAdmission admission(bed.registry->journal);
  const auto refusal = [&](const Partition& partition) {
    const auto admitted = admission.admit_new(partition);
    return admitted ? "" : admitted.error().text();
  };
  Partition blue = make_partition("blue", 0x100);
  blue.sl = 0;
  CHECK(refusal(blue).empty());
  blue.sl = 1;
  CHECK(refusal(blue).find("opensm.qos") != std::string::npos);
  blue.sl.reset();
  blue.membership = kBoth;
  CHECK(refusal(blue).find("opensm.allowBothPkeys") != std::string::npos);
  blue.membership = kFull;
  blue.members = {{storage(1), kBoth, ""}};
  CHECK(refusal(blue).find("opensm.allowBothPkeys") != std::string::npos);
}

TEST_CASE("a static member has the membership of its port's bindings") {
  Fixture bed;
  bed.bind(request("n1", "a", vf(1), {{"blue", kLimited}}));
  const PartitionAdmission admission(bed.registry->journal);
  const state::PartitionRecord& blue = *bed.registry->journal.records().find_partition("blue");
  Partition changed = make_partition("blue", 0);
  changed.members = {{vf(1), kFull, ""}};
  CHECK(admission.admit_change(blue, changed).error().code() == Code::busy);
  changed.members = {{vf(1), kLimited, ""}};
  CHECK(admission.admit_change(blue, changed));
}

TEST_CASE("only a partition that no file declares can be changed by a request") {
  state::PartitionRecord blue;
  CHECK(check_administered(&blue, "blue"));
  blue.declared = true;
  CHECK(check_administered(&blue, "blue").error().code() == Code::denied);
  CHECK(check_administered(nullptr, "blue").error().code() == Code::not_found);
}

}  // namespace
}  // namespace ibpod::sm::partitions
