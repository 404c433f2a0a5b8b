#include "sm/controller/repair_queue.h"

#include <doctest/doctest.h>

namespace ibpod::sm {
namespace {

using std::chrono::seconds;

constexpr ib::Guid kPort{1}, kOther{2};
const Mending::Time kStart{seconds(1000)};

uint64_t in_seven(ib::Guid) { return 7; }

TEST_CASE("a repair that has not helped comes again, later each time, and in the end by scans") {
  Mending mending;
  Mending::Time now = kStart;
  for (const int pause : {1, 2, 4, 8, 16, 32, 60, 60}) {
    CAPTURE(pause);
    CHECK(mending.may_plan(kPort, now));
    mending.plan(kPort, 7, {{.port = kPort}}, now);
    CHECK(mending.take(in_seven).size() == 1);
    CHECK(mending.under_way(kPort));
    mending.over(kPort);
    CHECK(mending.unsettled().contains(kPort) == (pause <= 16));
    CHECK_FALSE(mending.may_plan(kPort, now + seconds(pause) - Duration(1)));
    CHECK(mending.may_plan(kOther, now));
    now += seconds(pause);
  }
  mending.drop(kPort);
  CHECK(mending.may_plan(kPort, now));
  CHECK(mending.unsettled().empty());
}

TEST_CASE("what has been asked for since overtakes a repair") {
  Mending mending;
  mending.plan(kPort, 6, {{.port = kPort}}, kStart);
  mending.plan(kOther, 7, {{.port = kOther}, {.port = kOther, .block = 1}}, kStart);
  CHECK(mending.take(in_seven).size() == 2);
  CHECK_FALSE(mending.under_way(kPort));
  CHECK(mending.unsettled() == std::set{kPort, kOther});
  CHECK(mending.take(in_seven).empty());
}

TEST_CASE("what is known of a port goes with it") {
  Mending mending;
  const Verdict wrong{.missing = {}, .foreign = {ib::PKey(0x8001)}};
  for (const ib::Guid port : {kPort, kOther}) {
    mending.plan(port, 7, {{.port = port}}, kStart);
    CHECK(mending.mark_reported(port, wrong));
  }
  fabric::SeenPort there;
  there.guid = kPort;
  mending.forget_absent(fabric::Topology({.ports = {there}}));
  CHECK_FALSE(mending.mark_reported(kPort, wrong));
  CHECK_FALSE(mending.may_plan(kPort, kStart));
  CHECK_MESSAGE(mending.mark_reported(kOther, wrong), "it is another port by now");
  CHECK(mending.may_plan(kOther, kStart));
}

}  // namespace
}  // namespace ibpod::sm
