#include "sm/telemetry/line_limit.h"

#include <doctest/doctest.h>

namespace ibpod::sm::telemetry {
namespace {

using namespace std::chrono_literals;
using Dropped = std::vector<LineLimit::Dropped>;

LineLimit::Time at(std::chrono::milliseconds ms) { return LineLimit::Time(100s + ms); }

// The number of ten lines that are written.
size_t written(LineLimit& limit, const std::string& caller, LineLimit::Time now) {
  size_t lines = 0;
  for (int n = 0; n < 10; ++n) lines += limit.take(caller, now) ? 1 : 0;
  return lines;
}

TEST_CASE("lines: so many of a caller in a second, the rest is counted and told of once") {
  LineLimit limit({.lines = 3});
  CHECK(written(limit, "n1", at(0ms)) == 3);
  CHECK(written(limit, "n1", at(999ms)) == 0);
  CHECK_MESSAGE(written(limit, "n2", at(999ms)) == 3, "another caller's are not touched");
  CHECK(limit.take_dropped(at(999ms)).empty());
  CHECK(limit.take_dropped(at(1000ms)) == Dropped{{"n1", 17}});
  CHECK(limit.take_dropped(at(1000ms)).empty());
  CHECK(written(limit, "n1", at(1000ms)) == 3);
  CHECK(limit.take_dropped(at(2000ms)) == Dropped{{"n1", 7}, {"n2", 7}});
}

TEST_CASE("lines: what was dropped is still told of when the caller goes on in the next second") {
  LineLimit limit({.lines = 3});
  CHECK(written(limit, "n1", at(0ms)) == 3);
  CHECK(written(limit, "n1", at(1000ms)) == 3);
  CHECK(limit.take_dropped(at(1500ms)).empty());
  CHECK(limit.take_dropped(at(2000ms)) == Dropped{{"n1", 14}});
}

TEST_CASE("lines: callers without number share one account, and leave room when they are quiet") {
  LineLimit limit({.lines = 3, .callers = 2});
  CHECK(written(limit, "n1", at(0ms)) == 3);
  CHECK(written(limit, "n2", at(0ms)) == 3);
  CHECK(written(limit, "n3", at(0ms)) == 3);
  CHECK(written(limit, "n4", at(0ms)) == 0);
  CHECK_MESSAGE(written(limit, "n1", at(1000ms)) == 3, "a caller that is known keeps its own");
  CHECK(limit.take_dropped(at(1000ms)) == Dropped{{"n2", 7}, {"", 17}});
  CHECK(written(limit, "n4", at(1000ms)) == 3);
}

TEST_CASE("lines: all callers together have a limit, and what is beyond it has no name") {
  LineLimit limit({.lines = 3, .total = 5});
  CHECK(written(limit, "n1", at(0ms)) == 3);
  CHECK(written(limit, "n2", at(0ms)) == 2);
  CHECK(written(limit, "n3", at(0ms)) == 0);
  CHECK(limit.take_dropped(at(1000ms)) == Dropped{{"n1", 7}, {"n2", 7}, {"n3", 7}, {"", 4}});
  CHECK(written(limit, "n3", at(1000ms)) == 3);
  CHECK(limit.take_dropped(at(2000ms)) == Dropped{{"n3", 7}});
}

TEST_CASE("lines: so many callers are named, the others share one count") {
  LineLimit limit({.lines = 3, .names = 2});
  for (const char* caller : {"n1", "n2", "n3", "n4"}) CHECK(written(limit, caller, at(0ms)) == 3);
  CHECK(limit.take_dropped(at(1000ms)) == Dropped{{"n1", 7}, {"n2", 7}, {"", 14}});
}

}  // namespace
}  // namespace ibpod::sm::telemetry
