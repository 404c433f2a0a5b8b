#include "sm/opensm/opensm_sweeps.h"

#include <doctest/doctest.h>

namespace ibpod::sm::opensm {
namespace {

using namespace std::chrono_literals;

constexpr OpensmSweeps::Limits kLimits{2s, 60s};
constexpr OpensmSweeps::Time kNow{};

// An OpenSM whose first sweep is over.
OpensmSweeps swept() {
  OpensmSweeps sweeps(kLimits);
  sweeps.start(kNow);
  sweeps.begin(kNow, true);
  sweeps.end();
  return sweeps;
}

TEST_CASE("only a sweep that began after the last change of the file has read it") {
  struct Case {
    void (OpensmSweeps::*change)();
    bool begun_before;
    bool read_file;
  };
  for (const auto& [change, begun_before, read_file] :
       {Case{&OpensmSweeps::file_written, true, false}, Case{&OpensmSweeps::request, true, false},
        Case{&OpensmSweeps::doubt, true, false}, Case{&OpensmSweeps::file_written, false, true},
        Case{&OpensmSweeps::request, false, true}, Case{&OpensmSweeps::doubt, false, true}}) {
    OpensmSweeps sweeps = swept();
    if (!begun_before) (sweeps.*change)();
    sweeps.begin(kNow + 1s, true);
    if (begun_before) (sweeps.*change)();
    const auto ended = sweeps.end();
    REQUIRE(ended);
    CHECK(ended->read_file == read_file);
    CHECK(ended->began == kNow + 1s);
  }
  OpensmSweeps foreign = swept();
  foreign.begin(kNow, false);
  CHECK(!foreign.end()->read_file);
}

TEST_CASE("a sweep whose beginning is lost has no end") {
  OpensmSweeps sweeps = swept();
  sweeps.begin(kNow, true);
  sweeps.lose_log();
  CHECK(!sweeps.running());
  CHECK(!sweeps.idle());
  CHECK(!sweeps.end());
  CHECK(sweeps.idle());
}

TEST_CASE("a SIGHUP is due after a request, unless a sweep is running, or begins by itself") {
  OpensmSweeps sweeps = swept();
  CHECK(!sweeps.hup_due(kNow));
  sweeps.request();
  CHECK(sweeps.hup_due(kNow));
  sweeps.begin(kNow, false);
  CHECK(!sweeps.hup_due(kNow));
  sweeps.end();
  CHECK(sweeps.hup_due(kNow));  // that sweep read another file
  sweeps.begin(kNow, true);
  sweeps.end();
  CHECK(!sweeps.hup_due(kNow));

  sweeps.start(kNow);
  sweeps.request();
  CHECK(!sweeps.hup_due(kNow));
}

TEST_CASE("a running sweep proves nothing of what is requested, written or doubted during it") {
  OpensmSweeps sweeps = swept();
  sweeps.begin(kNow, true);
  CHECK(sweeps.end()->read_file);
  sweeps.begin(kNow, true);
  SUBCASE("requested") { sweeps.request(); }
  SUBCASE("written") { sweeps.file_written(); }
  SUBCASE("doubted") { sweeps.doubt(); }
  const auto ended = sweeps.end();
  REQUIRE(ended);
  CHECK_FALSE(ended->read_file);
}

TEST_CASE(
    "a SIGHUP that no sweep follows in time is sent again, and so is one during a long sweep") {
  OpensmSweeps sweeps = swept();
  sweeps.request();
  sweeps.hupped(kNow);
  CHECK(!sweeps.hup_due(kNow));
  CHECK(sweeps.alarm() == kNow + kLimits.begin);
  CHECK(sweeps.hup_due(kNow + kLimits.begin));
  CHECK(!sweeps.stuck());
  sweeps.hupped(kNow + kLimits.begin);
  CHECK(sweeps.stuck());
  sweeps.begin(kNow + 3s, true);
  CHECK(sweeps.alarm() == kNow + 3s + kLimits.end);
  CHECK(sweeps.hup_due(kNow + 3s + kLimits.end));
  sweeps.hupped(kNow + 3s + kLimits.end);
  CHECK(sweeps.stuck());
  sweeps.end();
  CHECK(!sweeps.stuck());
  CHECK(!sweeps.alarm());
}

TEST_CASE("if the log never shows a sweep, the second SIGHUP is the last one") {
  OpensmSweeps sweeps(kLimits);
  sweeps.start(kNow);
  CHECK(sweeps.alarm() == kNow + kLimits.end);
  for (int i = 0; i < 2; ++i) {
    CHECK(sweeps.hup_due(kNow + 1h));
    sweeps.hupped(kNow);
  }
  CHECK(!sweeps.hup_due(kNow + 1h));
  CHECK(!sweeps.alarm());
  sweeps.file_written();
  CHECK(sweeps.hup_due(kNow));
}

TEST_CASE("a file waits for the end of a sweep, and for a sweep that was requested") {
  OpensmSweeps sweeps = swept();
  CHECK(sweeps.gap() == OpensmSweeps::Time::min());
  sweeps.hupped(kNow);
  CHECK(!sweeps.gap());
  sweeps.begin(kNow, true);
  CHECK(!sweeps.gap());
  sweeps.end();
  CHECK(sweeps.gap() == OpensmSweeps::Time::min());

  OpensmSweeps silent(kLimits);
  silent.start(kNow);
  silent.hupped(kNow);
  CHECK(silent.gap() == kNow + kLimits.begin);
}

TEST_CASE("of an OpenSM that is found, the log shows whether a sweep is running, or nothing") {
  OpensmSweeps log(kLimits);
  OpensmSweeps sweeps(kLimits);
  log.start(kNow);
  sweeps.adopt(log, kNow);
  CHECK(!sweeps.idle());
  CHECK(!sweeps.running());
  CHECK(sweeps.hup_due(kNow));

  log.begin(kNow, true);
  sweeps.adopt(log, kNow);
  CHECK(sweeps.running());
  CHECK(!sweeps.hup_due(kNow));
  CHECK(!sweeps.end()->read_file);
  CHECK(sweeps.hup_due(kNow));

  log.end();
  sweeps.adopt(log, kNow);
  CHECK(sweeps.idle());
  CHECK(sweeps.hup_due(kNow));
}

TEST_CASE("an OpenSM that stops to sweep is not late") {
  OpensmSweeps sweeps = swept();
  sweeps.request();
  sweeps.hupped(kNow);
  sweeps.hupped(kNow + kLimits.begin);
  REQUIRE(sweeps.stuck());
  sweeps.stop();
  CHECK(!sweeps.stuck());
  CHECK(sweeps.idle());
  CHECK(!sweeps.alarm());
}

}  // namespace
}  // namespace ibpod::sm::opensm
