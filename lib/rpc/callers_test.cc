#include "lib/rpc/callers.h"

#include "lib/rpc/holder.h"

#include <tuple>

#include <doctest/doctest.h>

namespace ibpod::rpc {
namespace {

using std::chrono::milliseconds;

struct Fixture {
  CallerLimits limits{.connections = 3,
                      .unfinished = 100,
                      .calls_a_second = 10,
                      .bytes = 1000,
                      .barred = Duration(5'000),
                      .unauthenticated_calls_a_second = 5};
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
  Fixture fixture;
  for (Callers::Number number = 1; number <= 3; ++number) fixture.add(number);
  fixture.use(1, {.begun = 20, .unfinished = 50, .bytes = 500});
  fixture.use(2, {.begun = 0, .unfinished = 50, .bytes = 500});
  CHECK(fixture.cut().empty());
  CHECK(fixture.cut("node-2").empty());
  CHECK(fixture.callers.connections("node-1") == std::vector<Callers::Number>{1, 2, 3});
}

TEST_CASE("callers: one connection too many cuts the oldest, and bars no holder") {
  Fixture fixture;
  for (Callers::Number number = 4; number <= 7; ++number) fixture.add(number);
  CHECK(fixture.cut() == "connections 4");
  CHECK(fixture.cut().empty());
  fixture.add(8);
  CHECK(fixture.cut() == "connections 5");
  CHECK_FALSE(fixture.callers.any_barred(fixture.now));
}

TEST_CASE("callers: an address is never barred: its worst connection is cut, and the others stay") {
  Fixture fixture;
  const std::string address = anonymous_account("10.0.0.1");
  fixture.add(1, address);
  fixture.add(2, address);
  fixture.use(1, {.begun = 1});
  fixture.use(2, {.begun = 11});
  CHECK(fixture.cut(address) == "rate 2");
  CHECK(fixture.cut(address).empty());
  CHECK(fixture.callers.connections(address) == std::vector<Callers::Number>{1});
  fixture.add(3, address);
  CHECK(fixture.cut(address).empty());
  fixture.use(3, {.begun = 0, .unfinished = 101});
  CHECK(fixture.cut(address) == "unfinished 3");
  fixture.add(4, address);
  CHECK(fixture.cut(address).empty());
  CHECK_FALSE(fixture.callers.any_barred(fixture.now));
}

TEST_CASE("callers: an address that connects too often loses the newest, and only that") {
  Fixture fixture;
  const std::string address = anonymous_account("10.0.0.1");
  for (Callers::Number number = 1; number <= 64; ++number) {
    fixture.add(number, address);
    if (number > 1) fixture.callers.remove(number);
  }
  CHECK(fixture.cut(address).empty());
  fixture.add(65, address);
  CHECK(fixture.cut(address) == "reconnects 65");
  CHECK(fixture.cut(address).empty());
  CHECK(fixture.callers.connections(address) == std::vector<Callers::Number>{1});
}

TEST_CASE("callers: one connection too many of an address does not hide what the others do") {
  Fixture fixture;
  const std::string address = anonymous_account("10.0.0.1");
  for (Callers::Number number = 1; number <= 4; ++number) fixture.add(number, address);
  for (Callers::Number number = 2; number <= 4; ++number) fixture.use(number, {.begun = 20});
  CHECK(fixture.cut(address) == "connections 1");
  CHECK(fixture.cut(address) == "rate 4");
  CHECK(fixture.cut(address) == "rate 3");
  CHECK(fixture.cut(address) == "rate 2");
  CHECK(fixture.cut(address).empty());
  // It has used up its calls for some time.
  fixture.add(5, address);
  fixture.use(5, {.begun = 11});
  CHECK(fixture.cut(address) == "rate 5");
}

TEST_CASE("callers: a connection that moves counts under its holder, and not before") {
  Fixture fixture;
  const std::string address = anonymous_account("10.0.0.1");
  // Each is known soon: as many as the address may have at once, and more than it may begin.
  for (Callers::Number number = 1; number <= 200; ++number) {
    fixture.add(number, address);
    CHECK(fixture.cut(address).empty());
    fixture.callers.move(number, "node-" + std::to_string(number % 100), fixture.now);
  }
  CHECK(fixture.callers.connections(address).empty());
  CHECK(fixture.callers.connections("node-7") == std::vector<Callers::Number>{7, 107});
  fixture.use(7, {.begun = 9});
  fixture.use(107, {.begun = 12});
  CHECK(fixture.cut("node-7") == "rate 107");
  // With its calls.
  fixture.add(300, address);
  fixture.use(300, {.begun = 21});
  fixture.callers.move(300, "node-300", fixture.now);
  CHECK(fixture.cut("node-300") == "rate 300");
  fixture.add(301, address);
  fixture.use(301, {.begun = 10});
  CHECK(fixture.cut(address).empty());
  fixture.callers.move(999, "node-7", fixture.now);  // it has gone
  CHECK(fixture.callers.connections("node-7") == std::vector<Callers::Number>{7});
}

TEST_CASE("callers: the connections of one holder count together, and the worst is cut") {
  for (const auto& [first, second, cause] :
       {std::tuple(Callers::Use{.unfinished = 60}, Callers::Use{.unfinished = 41}, "unfinished 1"),
        std::tuple(Callers::Use{.bytes = 400}, Callers::Use{.bytes = 601}, "bytes 2"),
        std::tuple(Callers::Use{.begun = 9}, Callers::Use{.begun = 12}, "rate 2")}) {
    Fixture fixture;
    fixture.add(1);
    fixture.add(2);
    fixture.add(3, "node-2");
    fixture.use(1, first);
    fixture.use(2, second);
    fixture.use(3, second);
    CHECK(fixture.cut() == cause);
    CHECK(fixture.cut("node-2").empty());
    CHECK(fixture.callers.any_barred(fixture.now));
  }
}

TEST_CASE("callers: who was cut for what it used has no connection for some time, and then again") {
  Fixture fixture;
  fixture.add(1);
  fixture.add(2);
  fixture.use(1, {.unfinished = 101});
  CHECK(fixture.cut() == "unfinished 1");
  CHECK(fixture.cut() == "barred 2");
  CHECK(fixture.cut().empty());
  fixture.now += milliseconds(4'999);
  fixture.add(3);
  CHECK(fixture.cut() == "barred 3");
  fixture.now += milliseconds(1);
  CHECK_FALSE(fixture.callers.any_barred(fixture.now));
  fixture.add(4);
  CHECK(fixture.cut().empty());
}

TEST_CASE("callers: calls that begin are counted by the time, also of connections that are gone") {
  Fixture fixture;
  fixture.add(1);
  fixture.use(1, {.begun = 20});
  CHECK(fixture.cut().empty());
  fixture.callers.remove(1);
  fixture.callers.forget_idle(fixture.now);
  fixture.now += milliseconds(500);
  fixture.add(2);
  fixture.use(2, {.begun = 5});
  CHECK(fixture.cut().empty());
  fixture.use(2, {.begun = 6});
  CHECK(fixture.cut() == "rate 2");
  // One that was quiet for long is as if it had never come.
  fixture.now += milliseconds(60'000);
  fixture.callers.forget_idle(fixture.now);
  fixture.add(3);
  fixture.use(3, {.begun = 20});
  CHECK(fixture.cut().empty());
}

TEST_CASE("callers: who connects again and again is barred, also where it has one at a time") {
  Fixture fixture;
  const auto connect = [&](Callers::Number number) {
    fixture.add(number);
    const std::string cut = fixture.cut();
    fixture.callers.remove(number);
    fixture.callers.forget_idle(fixture.now);
    return cut;
  };
  for (Callers::Number number = 0; number < 64; ++number) CHECK(connect(number).empty());
  fixture.now += milliseconds(100);
  CHECK(connect(64).empty());
  CHECK(connect(65).empty());
  fixture.add(66, "node-2");
  CHECK(fixture.cut("node-2").empty());
  CHECK(connect(67) == "reconnects 67");
  CHECK(connect(68) == "barred 68");
  // Its refused attempts meanwhile do not count.
  for (Callers::Number number = 69; number < 169; ++number) CHECK_FALSE(connect(number).empty());
  fixture.now += milliseconds(5'000);
  CHECK(connect(169).empty());
}

}  // namespace
}  // namespace ibpod::rpc
