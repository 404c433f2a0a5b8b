#include "ctl/partition_options.h"

#include <doctest/doctest.h>

namespace ibpod::ctl {
namespace {

using fabric::Membership;
using fabric::Partition;

constexpr ib::Guid kServer{0x0002c90300a1b2c3};

Partition blue() {
  Partition partition;
  partition.name = "blue";
  return partition;
}

TEST_CASE("what is not said stays as it is") {
  Partition partition = blue();
  partition.index0 = true;
  partition.rate = fabric::Rate{2};
  partition.allowed = {"a"};
  const Result<Partition> same = changed(partition, {});
  REQUIRE(same);
  CHECK(*same == partition);
}

TEST_CASE("what is said is taken, and taken back") {
  PartitionOptions options;
  options.pkey = "0x0101";
  options.membership = "both";
  options.index0 = true;
  options.ipoib = "yes";
  options.mtu = "4096";
  options.rate = "2.5";
  options.sl = "15";
  options.proof = "port";
  options.allow = {"a", "b", "a"};
  const Result<Partition> made = changed(blue(), options);
  REQUIRE(made);
  CHECK(made->pkey == ib::PKey(0x0101));
  CHECK(made->membership == Membership::both);
  CHECK((made->index0 && made->ipoib == true));
  CHECK(made->mtu == fabric::Mtu::mtu_4096);
  CHECK(made->rate == fabric::Rate{2});
  CHECK(made->sl == 15);
  CHECK(made->proof == fabric::Proof::port);
  CHECK(made->allowed == std::vector<std::string>{"a", "b"});
  PartitionOptions back;
  back.index0 = false;
  back.ipoib = back.mtu = back.rate = back.sl = "fabric";
  back.disallow = {"a", "c"};
  const Result<Partition> again = changed(*made, back);
  REQUIRE(again);
  CHECK_FALSE(again->index0);
  CHECK_FALSE(again->ipoib.has_value());
  CHECK_FALSE((again->mtu || again->rate || again->sl));
  CHECK(again->allowed == std::vector<std::string>{"b"});
  back.ipoib = "no";
  CHECK(changed(*made, back)->ipoib == false);
}

TEST_CASE("what cannot be is refused by the name of its option") {
  struct Case {
    std::string PartitionOptions::*option;
    std::string value, told;
  };
  const Case cases[] = {
      {&PartitionOptions::pkey, "1000", "--pkey: "},
      {&PartitionOptions::pkey, "0x7fff", "pkey: "},
      {&PartitionOptions::pkey, "0x8001", "0x8001"},
      {&PartitionOptions::membership, "ful",
       "--membership: expected limited, full or both, got \"ful\""},
      {&PartitionOptions::ipoib, "true", "--ipoib: expected yes, no or fabric"},
      {&PartitionOptions::mtu, "128", "--mtu: expected 256"},
      {&PartitionOptions::mtu, "8192", "--mtu: "},
      {&PartitionOptions::mtu, "0x1000", "--mtu: "},
      {&PartitionOptions::rate, "3", "--rate: expected 2.5, "},
      {&PartitionOptions::sl, "16", "--sl: expected 0 to 15"},
      {&PartitionOptions::sl, "-1", "--sl: "},
      {&PartitionOptions::sl, "99999999999999999999", "--sl: "},
      {&PartitionOptions::proof, "fabric", "--proof: expected node, port or none"},
  };
  for (const Case& test : cases) {
    PartitionOptions options;
    options.*test.option = test.value;
    const Result<Partition> refused = changed(blue(), options);
    CAPTURE(test.value);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Code::invalid);
    CHECK(refused.error().text().find(test.told) != std::string::npos);
  }
}

TEST_CASE("a member comes once, changes and goes") {
  const Result<Partition> one = with_member(blue(), {kServer, Membership::limited, "nfs-1"});
  REQUIRE(one);
  const Result<Partition> full = with_member(*one, {kServer, Membership::full, ""});
  REQUIRE(full);
  REQUIRE(full->members.size() == 1);
  CHECK(full->members[0].membership == Membership::full);
  const Result<Partition> none = without_member(*full, kServer);
  REQUIRE(none);
  CHECK(none->members.empty());
  const Result<Partition> refused = without_member(*none, kServer);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::not_found);
  CHECK_FALSE(with_member(blue(), {ib::kNoGuid, Membership::full, ""}));
}

}  // namespace
}  // namespace ibpod::ctl
