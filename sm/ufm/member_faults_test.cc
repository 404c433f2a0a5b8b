#include "sm/ufm/member_faults.h"

#include <doctest/doctest.h>

namespace ibpod::sm::ufm {
namespace {

using engine::PortFault;
using Kind = PortFault::Kind;
using std::chrono::seconds;

constexpr ib::PKey kBlue{0x10}, kRed{0x11};
constexpr ib::Guid kA{0xa}, kB{0xb}, kC{0xc};
constexpr MemberFaults::Time kNow{seconds(1000)};

Step addition(std::vector<ib::Guid> guids) {
  return {kBlue, {.kind = Step::Kind::addition}, std::move(guids)};
}
Step removal(std::vector<ib::Guid> guids) {
  return {kBlue, {.kind = Step::Kind::removal}, std::move(guids)};
}

TEST_CASE("after a refusal of several ports, halves of them are tried at once") {
  MemberFaults faults;
  faults.refused(addition({kA, kB, kC}), "400: no", kNow);
  const Retries retries = faults.retries(kBlue, kNow);
  CHECK(retries.remove.empty());
  REQUIRE(retries.add.size() == 3);
  for (const auto& [guid, retry] : retries.add) CHECK(retry == Retry{.together = 1});
  CHECK(faults.faults().front() ==
        PortFault{kA, Kind::not_added,
                  "UFM refuses to add the port: P_Key 0x0010, in one call with 2 other ports: "
                  "400: no"});
  CHECK(faults.retries(kRed, kNow).add.empty());
}

TEST_CASE("a single refused port waits, twice as long each time, up to five minutes") {
  MemberFaults faults;
  MemberFaults::Time now = kNow;
  for (const int pause : {2, 4, 8, 16, 32, 64, 128, 256, 300, 300}) {
    faults.refused(removal({kA}), "400: no", now);
    CHECK(faults.retries(kBlue, now).remove.at(kA) == Retry{.waits = true, .together = 1});
    CHECK(faults.due(now) == now + seconds(pause));
    now += seconds(pause);
    CHECK(faults.retries(kBlue, now).remove.at(kA) == Retry{.together = 1});
    CHECK_FALSE(faults.due(now));
  }
  CHECK(faults.faults() ==
        std::vector<PortFault>{
            {kA, Kind::not_removed, "UFM refuses to remove the port: P_Key 0x0010: 400: no"}});
}

TEST_CASE("if too many calls of a partition are refused, the search goes on with pauses") {
  MemberFaults faults;
  for (int calls = 0; calls < 64; ++calls) {
    CHECK_FALSE(faults.due(kNow));
    faults.refused(addition({kA, kB}), "400: no", kNow);
  }
  CHECK_FALSE(faults.due(kNow));
  faults.refused(addition({kA, kB}), "400: no", kNow);
  CHECK(faults.due(kNow) == kNow + seconds(2));
  // The count begins again when the partition has no fault any more.
  faults.settle(Kind::not_added, kBlue, kA);
  faults.settle(Kind::not_added, kBlue, kB);
  faults.refused(addition({kA, kB}), "400: no", kNow);
  CHECK_FALSE(faults.due(kNow));
}

TEST_CASE("an ignored change is made again with pauses, of members that are there by a removal") {
  MemberFaults faults;
  faults.ignored(Kind::not_added, kBlue, kA, false, "not shown", kNow);
  faults.ignored(Kind::not_added, kBlue, kB, true, "shown otherwise", kNow);
  const Retries retries = faults.retries(kBlue, kNow);
  CHECK(retries.add.at(kA) == Retry{.waits = true});
  CHECK(retries.add.at(kB) == Retry{.waits = true, .remove_first = true});
  CHECK(faults.due(kNow) == kNow + seconds(1));
  CHECK(faults.has(Kind::not_added, kBlue, kA));
  CHECK_FALSE(faults.has(Kind::not_removed, kBlue, kA));
  CHECK_FALSE(faults.has(Kind::not_added, kRed, kA));
  CHECK(faults.members(Kind::not_added, kBlue) == std::vector{kA, kB});
  CHECK(faults.pkeys() == std::set{kBlue});
  faults.settle(Kind::not_added, kBlue, kA);
  CHECK(faults.members(Kind::not_added, kBlue) == std::vector{kB});
  faults.settle(Kind::not_added, kBlue, kB);
  CHECK(faults.pkeys().empty());
  CHECK(faults.faults().empty());
}

TEST_CASE("a port that was removed at last keeps its fault for a while") {
  MemberFaults faults;
  faults.ignored(Kind::not_removed, kBlue, kA, true, "still shown", kNow);
  faults.settle(Kind::not_removed, kBlue, kA, kNow + seconds(60));
  CHECK_FALSE(faults.has(Kind::not_removed, kBlue, kA));
  CHECK(faults.members(Kind::not_removed, kBlue).empty());
  REQUIRE(faults.faults().size() == 1);
  CHECK(faults.faults()[0].kind == Kind::not_removed);
  CHECK(faults.faults()[0].text ==
        "UFM has removed the port from P_Key 0x0010; its subnet manager may still have to write "
        "the port's table");
  CHECK(faults.due(kNow) == kNow + seconds(60));
  faults.expire(kNow + seconds(59));
  CHECK(faults.faults().size() == 1);
  SUBCASE("its time is over") { faults.expire(kNow + seconds(60)); }
  SUBCASE("it comes back, and is ignored again") {
    faults.ignored(Kind::not_removed, kBlue, kA, true, "still shown", kNow + seconds(59));
    faults.expire(kNow + seconds(60));
    CHECK(faults.has(Kind::not_removed, kBlue, kA));
    faults.settle(Kind::not_removed, kBlue, kA);
  }
  CHECK(faults.faults().empty());
  faults.settle(Kind::not_removed, kBlue, kA, kNow);
  CHECK_MESSAGE(faults.faults().empty(), "it makes no new fault");
}

TEST_CASE("UFM ignores all if it ignores two ports, not one in two partitions") {
  MemberFaults faults;
  faults.ignored(Kind::not_added, kBlue, kA, false, "", kNow);
  faults.ignored(Kind::not_added, kRed, kA, false, "", kNow);
  CHECK_FALSE(faults.ignores_all(kNow));
  faults.refused(addition({kC}), "", kNow);
  CHECK_FALSE(faults.ignores_all(kNow));
  faults.ignored(Kind::not_removed, kBlue, kB, true, "", kNow + seconds(1));
  CHECK_FALSE(faults.ignores_all(kNow));
  faults.ignored(Kind::not_removed, kBlue, kB, true, "", kNow + seconds(9));
  CHECK(faults.ignores_all(kNow + seconds(1)));
  faults.settle(Kind::not_removed, kBlue, kB, kNow + seconds(60));
  CHECK_FALSE(faults.ignores_all(kNow + seconds(9)));
}

}  // namespace
}  // namespace ibpod::sm::ufm
