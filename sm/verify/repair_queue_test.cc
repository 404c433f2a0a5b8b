#include "sm/verify/repair_queue.h"

#include <doctest/doctest.h>

namespace ibpod::sm::verify {
namespace {

using std::chrono::seconds;

constexpr ib::Guid kPort{1}, kOther{2};
const RepairQueue::Time kStart{seconds(1000)};

uint64_t in_seven(ib::Guid) { return 7; }

TEST_CASE("a repair that has not helped comes again, later each time, and in the end by scans") {
  RepairQueue repairs;
  RepairQueue::Time now = kStart;
  for (const int pause : {1, 2, 4, 8, 16, 32, 60, 60}) {
    CAPTURE(pause);
    CHECK(repairs.may_plan(kPort, now));
    repairs.plan(kPort, 7, {{.port = kPort}}, now);
    CHECK(repairs.take(in_seven).size() == 1);
    CHECK(repairs.under_way(kPort));
    repairs.finished(kPort);
    CHECK(repairs.unsettled().contains(kPort) == (pause <= 16));
    CHECK_FALSE(repairs.may_plan(kPort, now + seconds(pause) - Duration(1)));
    CHECK(repairs.may_plan(kOther, now));
    now += seconds(pause);
  }
  repairs.drop(kPort);
  CHECK(repairs.may_plan(kPort, now));
  CHECK(repairs.unsettled().empty());
}

TEST_CASE("what has been asked for since overtakes a repair") {
  RepairQueue repairs;
  repairs.plan(kPort, 6, {{.port = kPort}}, kStart);
  repairs.plan(kOther, 7, {{.port = kOther}, {.port = kOther, .block = 1}}, kStart);
  CHECK(repairs.take(in_seven).size() == 2);
  CHECK_FALSE(repairs.under_way(kPort));
  CHECK(repairs.unsettled() == std::set{kPort, kOther});
  CHECK(repairs.take(in_seven).empty());
}

TEST_CASE("what is known of a port goes with it") {
  RepairQueue repairs;
  const TableDiff wrong{.missing = {}, .foreign = {ib::PKey(0x8001)}};
  for (const ib::Guid port : {kPort, kOther}) {
    repairs.plan(port, 7, {{.port = port}}, kStart);
    CHECK(repairs.mark_reported(port, wrong));
  }
  fabric::Port there;
  there.guid = kPort;
  repairs.forget_absent(fabric::Topology({.ports = {there}}));
  CHECK_FALSE(repairs.mark_reported(kPort, wrong));
  CHECK_FALSE(repairs.may_plan(kPort, kStart));
  CHECK_MESSAGE(repairs.mark_reported(kOther, wrong), "it is another port by now");
  CHECK(repairs.may_plan(kOther, kStart));
}

}  // namespace
}  // namespace ibpod::sm::verify
