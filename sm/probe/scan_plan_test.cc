#include "sm/probe/scan_plan.h"

#include <doctest/doctest.h>

namespace ibpod::sm::probe {
namespace {

using namespace std::chrono_literals;
using Work = ScanPlan::Work;

const ScanPlan::Time kStart{};

// A plan whose first scan ran from kStart to kStart + took.
ScanPlan begun(bool everything, Duration took = 0ms) {
  ScanPlan plan({}, kStart);
  CHECK(plan.take_due(kStart) == Work::scan);
  plan.discovered(kStart, kStart + took, true);
  plan.scanned(kStart, kStart + took, everything);
  return plan;
}

TEST_CASE("it begins with a scan, and the next comes in its time") {
  ScanPlan plan = begun(true, 100ms);
  CHECK(plan.next() == kStart + 100ms + 60s);
  CHECK(!plan.take_due(kStart + 60s));
  CHECK(plan.take_due(kStart + 61s) == Work::scan);
  CHECK(!plan.next());
}

TEST_CASE("a scan that has not seen everything is soon repeated, then more rarely") {
  ScanPlan plan = begun(false);
  auto now = kStart;
  for (const auto rest : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s}) {
    CHECK(plan.next() == now + rest);
    now += rest;
    REQUIRE(plan.take_due(now) == Work::scan);
    plan.discovered(now, now, false);
    plan.scanned(now, now, false);
  }
  plan.rescan(now);
  plan.take_due(now);
  plan.scanned(now, now, true);
  plan.rescan(now);
  plan.take_due(now);
  plan.scanned(now, now, false);
  CHECK(plan.next() == now + 1s);
}

TEST_CASE("a long scan is not repeated without pause") {
  CHECK(begun(false, 2000ms).next() == kStart + 12s);
}

TEST_CASE("a look is a scan now, and another one if one is under way") {
  ScanPlan plan = begun(true);
  plan.rescan(kStart + 1s);
  CHECK(plan.take_due(kStart + 1s) == Work::scan);
  plan.rescan(kStart + 2s);
  plan.discovered(kStart + 1s, kStart + 3s, false);
  plan.scanned(kStart + 1s, kStart + 3s, true);
  CHECK(plan.take_due(kStart + 3s) == Work::scan);
}

TEST_CASE("a survey waits until the last one is old enough") {
  ScanPlan plan = begun(true);
  plan.changed();
  CHECK(plan.next() == kStart + 250ms);
  CHECK(plan.take_due(kStart + 250ms) == Work::discovery);
  CHECK(plan.under_way());
  plan.discovered(kStart + 250ms, kStart + 450ms, true);
  CHECK(!plan.under_way());
  plan.port_missing();
  CHECK(plan.next() == kStart + 250ms + 1000ms);
}

TEST_CASE("surveys that find nothing new become rare, until something changes") {
  ScanPlan plan = begun(true);
  auto now = kStart;
  for (const auto pause : {250ms, 500ms, 1000ms, 2000ms, 4000ms, 5000ms, 5000ms}) {
    plan.port_missing();
    CHECK(plan.next() == now + pause);
    now += pause;
    REQUIRE(plan.take_due(now) == Work::discovery);
    plan.discovered(now, now, false);
  }
  plan.changed();
  CHECK(plan.next() == now + 250ms);
}

}  // namespace
}  // namespace ibpod::sm::probe
