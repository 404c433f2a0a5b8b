#include "ctl/partition_options.h"

#include <doctest/doctest.h>

namespace ibpod::ctl {
namespace {

using fabric::Membership;
using fabric::Tenancy;

constexpr ib::Guid kServer{0x0002c90300a1b2c3};

Tenancy blue() {
  Tenancy tenancy;
  tenancy.name = "blue";
  return tenancy;
}

TEST_CASE("what is not said stays as it is") {
  Tenancy tenancy = blue();
  tenancy.index0 = true;
  tenancy.rate = fabric::Rate{2};
  tenancy.allowed = {"a"};
  const Result<Tenancy> same = changed(tenancy, {});
  REQUIRE(same);
  CHECK(*same == tenancy);
}

TEST_CASE("what is said is taken, and taken back") {
  TenancyOptions options;
  options.pkey = "0x0101";
  options.membership = "both";
  options.index0 = true;
  options.ipoib = "yes";
  options.mtu = "4096";
  options.rate = "2.5";
  options.sl = "15";
  options.proof = "port";
  options.allow = {"a", "b", "a"};
  const Result<Tenancy> made = changed(blue(), options);
  REQUIRE(made);
  CHECK(made->pkey == ib::PKey(0x0101));
  CHECK(made->membership == Membership::both);
  CHECK((made->index0 && made->ipoib == true));
  CHECK(made->mtu == fabric::Mtu::mtu_4096);
  CHECK(made->rate == fabric::Rate{2});
  CHECK(made->sl == 15);
  CHECK(made->proof == fabric::Proof::port);
  CHECK(made->allowed == std::vector<std::string>{"a", "b"});
  TenancyOptions back;
  back.index0 = false;
  back.ipoib = back.mtu = back.rate = back.sl = "fabric";
  back.disallow = {"a", "c"};
  const Result<Tenancy> again = changed(*made, back);
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
    std::string TenancyOptions::*option;
    std::string value, told;
  };
  const Case cases[] = {
      {&TenancyOptions::pkey, "1000", "--pkey: "},
      {&TenancyOptions::pkey, "0x7fff", "pkey: "},
      {&TenancyOptions::pkey, "0x8001", "0x8001"},
      {&TenancyOptions::membership, "ful",
       "--membership: expected limited, full or both, got \"ful\""},
      {&TenancyOptions::ipoib, "true", "--ipoib: expected yes, no or fabric"},
      {&TenancyOptions::mtu, "128", "--mtu: expected 256"},
      {&TenancyOptions::mtu, "8192", "--mtu: "},
      {&TenancyOptions::mtu, "0x1000", "--mtu: "},
      {&TenancyOptions::rate, "3", "--rate: expected 2.5, "},
      {&TenancyOptions::sl, "16", "--sl: expected 0 to 15"},
      {&TenancyOptions::sl, "-1", "--sl: "},
      {&TenancyOptions::sl, "99999999999999999999", "--sl: "},
      {&TenancyOptions::proof, "nobody", "--proof: expected node, port or none"},
  };
  for (const Case& test : cases) {
    TenancyOptions options;
    options.*test.option = test.value;
    const Result<Tenancy> refused = changed(blue(), options);
    CAPTURE(test.value);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Code::invalid);
    CHECK(refused.error().text().find(test.told) != std::string::npos);
  }
}

TEST_CASE("a member comes once, changes and goes") {
  const Result<Tenancy> one = with_member(blue(), {kServer, Membership::limited, "nfs-1"});
  REQUIRE(one);
  const Result<Tenancy> full = with_member(*one, {kServer, Membership::full, ""});
  REQUIRE(full);
  REQUIRE(full->members.size() == 1);
  CHECK(full->members[0].membership == Membership::full);
  const Result<Tenancy> none = without_member(*full, kServer);
  REQUIRE(none);
  CHECK(none->members.empty());
  const Result<Tenancy> refused = without_member(*none, kServer);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::not_found);
  CHECK_FALSE(with_member(blue(), {ib::kNoGuid, Membership::full, ""}));
}

}  // namespace
}  // namespace ibpod::ctl
