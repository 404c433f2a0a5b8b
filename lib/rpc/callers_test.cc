#include "lib/rpc/callers.h"

#include <tuple>

#include <doctest/doctest.h>

namespace ibpod::rpc {
namespace {

using std::chrono::milliseconds;

struct Bed {
  CallerLimits limits{.connections = 3,
                      .unfinished = 100,
                      .calls_a_second = 10,
                      .bytes = 1000,
                      .barred = Duration(5'000)};
  Callers callers{limits};
  Callers::Time now{};

  void add(Callers::Number connection, const std::string& holder = "node-1") {
    callers.add(connection, holder, now);
  }
  void use(Callers::Number connection, const Callers::Use& use) {
    callers.use(connection, use, now);
  }
  // "cause connection"; empty: nothing is cut.
  std::string cut(const std::string& holder = "node-1") {
    const auto cut = callers.cut_one(holder, now);
    if (!cut) return {};
    return std::string(name(cut->cause)) + " " + std::to_string(cut->connection);
  }
};

TEST_CASE("callers: what is within the limits is left alone") {
  Bed bed;
  for (Callers::Number number = 1; number <= 3; ++number) bed.add(number);
  bed.use(1, {.begun = 20, .unfinished = 50, .bytes = 500});
  bed.use(2, {.begun = 0, .unfinished = 50, .bytes = 500});
  CHECK(bed.cut().empty());
  CHECK(bed.cut("node-2").empty());
  CHECK(bed.callers.connections("node-1") == std::vector<Callers::Number>{1, 2, 3});
}

TEST_CASE("callers: the oldest connection gives way to one too many, and nobody is barred for it") {
  Bed bed;
  for (Callers::Number number = 4; number <= 7; ++number) bed.add(number);
  CHECK(bed.cut() == "connections 4");
  CHECK(bed.cut().empty());
  bed.add(8);
  CHECK(bed.cut() == "connections 5");
  CHECK_FALSE(bed.callers.any_barred(bed.now));
}

TEST_CASE("callers: the connections of one holder count together, and the worst is cut") {
  for (const auto& [first, second, cause] :
       {std::tuple(Callers::Use{.unfinished = 60}, Callers::Use{.unfinished = 41}, "unfinished 1"),
        std::tuple(Callers::Use{.bytes = 400}, Callers::Use{.bytes = 601}, "bytes 2"),
        std::tuple(Callers::Use{.begun = 9}, Callers::Use{.begun = 12}, "rate 2")}) {
    Bed bed;
    bed.add(1);
    bed.add(2);
    bed.add(3, "node-2");
    bed.use(1, first);
    bed.use(2, second);
    bed.use(3, second);
    CHECK(bed.cut() == cause);
    CHECK(bed.cut("node-2").empty());
    CHECK(bed.callers.any_barred(bed.now));
  }
}

TEST_CASE("callers: who was cut for what it used has no connection for some time, and then again") {
  Bed bed;
  bed.add(1);
  bed.add(2);
  bed.use(1, {.unfinished = 101});
  CHECK(bed.cut() == "unfinished 1");
  CHECK(bed.cut() == "barred 2");
  CHECK(bed.cut().empty());
  bed.now += milliseconds(4'999);
  bed.add(3);
  CHECK(bed.cut() == "barred 3");
  bed.now += milliseconds(1);
  CHECK_FALSE(bed.callers.any_barred(bed.now));
  bed.add(4);
  CHECK(bed.cut().empty());
}

TEST_CASE("callers: calls that begin are counted by the time, also of connections that are gone") {
  Bed bed;
  bed.add(1);
  bed.use(1, {.begun = 20});
  CHECK(bed.cut().empty());
  bed.callers.remove(1);
  bed.callers.forget_idle(bed.now);
  bed.now += milliseconds(500);
  bed.add(2);
  bed.use(2, {.begun = 5});
  CHECK(bed.cut().empty());
  bed.use(2, {.begun = 6});
  CHECK(bed.cut() == "rate 2");
  // One that was quiet for long is as if it had never come.
  bed.now += milliseconds(60'000);
  bed.callers.forget_idle(bed.now);
  bed.add(3);
  bed.use(3, {.begun = 20});
  CHECK(bed.cut().empty());
}

TEST_CASE("callers: who connects again and again is barred, also where it has one at a time") {
  Bed bed;
  const auto connect = [&](Callers::Number number) {
    bed.add(number);
    const std::string cut = bed.cut();
    bed.callers.remove(number);
    bed.callers.forget_idle(bed.now);
    return cut;
  };
  for (Callers::Number number = 0; number < 64; ++number) CHECK(connect(number).empty());
  bed.now += milliseconds(100);
  CHECK(connect(64).empty());
  CHECK(connect(65).empty());
  bed.add(66, "node-2");
  CHECK(bed.cut("node-2").empty());
  CHECK(connect(67) == "reconnects 67");
  CHECK(connect(68) == "barred 68");
  // What it tries in vain meanwhile does not count.
  for (Callers::Number number = 69; number < 169; ++number) CHECK_FALSE(connect(number).empty());
  bed.now += milliseconds(5'000);
  CHECK(connect(169).empty());
}

}  // namespace
}  // namespace ibpod::rpc
