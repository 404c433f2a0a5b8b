// OpenSM is killed, or stopped, at any moment while pods come and go: every reading of the ports
// shows what was acknowledged, and in the end everything is as it was requested.
#include "tests/fabric/engine/reader.h"
#include "tests/fabric/sm/faults/console.h"
#include "tests/fabric/sm/faults/faults.h"
#include "tests/fabric/sm/table_checks.h"

#include <future>
#include <set>
#include <stop_token>
#include <thread>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

constexpr Duration kTimeout{90000};
constexpr ib::PKey kBlue{0x8001};

// Asked again, as an agent asks, where OpenSM had no time for it: each start of it that does not
// last is followed by a longer pause.
template <typename Ask>
void in_the_end(const std::string& state, const Ask& ask) {
  const std::set<std::string> underway{"requested", "written", "releasing", "unknown"};
  const auto again = [&](const std::string& now) {
    return underway.contains(now) || now.starts_with("unavailable");
  };
  std::string now = ask();
  for (int times = 1; times < 10 && again(now); ++times) now = ask();
  CHECK(now == state);
}

// Pods come and go at a host, at least one, until `stop` is requested; the last one stays.
size_t come_and_go(SmFixture& fixture, Reader& reader, unsigned host, const std::stop_token& stop) {
  size_t rounds = 0;
  while (true) {
    const std::string container = "c" + std::to_string(rounds);
    reader.unsure(host);
    in_the_end("verified", [&] { return fixture.bind(host, "blue", container, kTimeout); });
    reader.expect(host, kBlue, true);
    if (stop.stop_requested() && rounds > 0) return rounds;
    reader.unsure(host);
    in_the_end("released", [&] { return fixture.unbind(host, container, kTimeout); });
    reader.expect(host, kBlue, false);
    ++rounds;
  }
}

// Hosts 2 to 4 all the while that `body` runs; host 1 is bound and stays so.
template <typename Body>
void under_way(SmFixture& fixture, const Body& body) {
  REQUIRE(fixture.bind(1, "blue") == "verified");
  Reader reader(fixture.subnet);
  reader.expect(1, kBlue, true);
  std::stop_source stop;
  std::vector<std::future<size_t>> pods;
  for (unsigned host = 2; host < 5; ++host)
    pods.push_back(std::async(std::launch::async, [&, host] {
      return come_and_go(fixture, reader, host, stop.get_token());
    }));
  body();
  stop.request_stop();
  size_t rounds = 0;
  for (auto& one : pods) rounds += one.get();
  const Reader::Sum sum = reader.end();
  MESSAGE(rounds << " pods have come and gone; readings judged " << sum.judged << ", wrong "
                 << sum.wrong);
  CHECK(sum.wrong == 0);
  CHECK(sum.judged > 0);
}

TEST_CASE("OpenSM is killed at any moment of Binds and Unbinds") {
  SmFixture fixture;
  fixture.create_partition("blue");
  std::mt19937 random = random_of("opensm");
  under_way(fixture, [&] {
    const int times = all_steps() ? 15 : 2;
    for (int round = 0; round < times; ++round) {
      CAPTURE(round);
      for (auto n = random() % 20; n > 0; --n) (void)fixture.is_healthy();  // as long as that takes
      const auto before = fixture.opensm();
      fixture.kill_opensm();
      fixture.until([&] {
        const auto now = fixture.opensm();
        return now && now != before && fixture.is_healthy();
      });
    }
  });
  check_tables(fixture);
}

TEST_CASE("OpenSM and ibpod-sm are killed at the same moment") {
  SmFixture fixture;
  fixture.create_partition("blue");
  REQUIRE(fixture.bind(1, "blue") == "verified");
  Console console;
  const int times = all_steps() ? 20 : 2;
  for (int round = 0; round < times; ++round) {
    CAPTURE(round);
    console.forget_dead();  // the simulator has room for ten
    auto binding = std::async(std::launch::async, [&] { return fixture.bind(2, "blue"); });
    (void)fixture.is_healthy();
    if (round % 2 == 0) fixture.kill_opensm();
    fixture.kill();
    if (round % 2 != 0) fixture.kill_opensm();
    binding.wait();
    fixture.start();
    CHECK(fixture.bind(2, "blue") == "verified");
    fixture.until([&] { return fixture.all_verified(); });
    check_tables(fixture);
    CHECK(fixture.unbind(2) == "released");
    check_tables(fixture);
  }
}

TEST_CASE("OpenSM stands still: told at the deadline, and done when it goes on") {
  SmFixture fixture;
  fixture.create_partition("blue");
  REQUIRE(fixture.bind(1, "blue") == "verified");
  std::mt19937 random = random_of("frozen");
  const int times = all_steps() ? 20 : 2;
  for (int round = 0; round < times; ++round) {
    CAPTURE(round);
    for (auto n = random() % 10; n > 0; --n) (void)fixture.is_healthy();
    fixture.signal_opensm(SIGSTOP);
    const auto bound = fixture.client().bind(SmFixture::request(2, "blue"),
                                             SmFixture::deadline_in(Duration(4000)));
    REQUIRE(bound);
    CHECK(bound->state != fabric::BindingState::verified);
    CHECK(bound->condition.reason != fabric::Reason::none);
    CHECK_FALSE(bound->condition.text.empty());
    check_verified(fixture);
    CHECK(keys_in(fixture.table(kSmHost)) == std::vector{ib::kDefaultFull});
    fixture.signal_opensm(SIGCONT);
    fixture.until([&] { return fixture.all_verified(); });
    fixture.until_healthy();
    check_tables(fixture);
    CHECK(fixture.unbind(2) == "released");
    check_tables(fixture);
  }
}

TEST_CASE("OpenSM stands still while pods come and go") {
  SmFixture fixture;
  fixture.create_partition("blue");
  std::mt19937 random = random_of("frozen under way");
  under_way(fixture, [&] {
    const int times = all_steps() ? 20 : 1;
    for (int round = 0; round < times; ++round) {
      CAPTURE(round);
      for (auto n = random() % 20; n > 0; --n) (void)fixture.is_healthy();
      fixture.signal_opensm(SIGSTOP);
      // A Bind that waits for it takes its time.
      const auto late = fixture.client().bind(SmFixture::request(5, "blue"),
                                              SmFixture::deadline_in(Duration(3000)));
      CHECK(late);
      fixture.signal_opensm(SIGCONT);
      CHECK(fixture.unbind(5, "c1", kTimeout) == "released");
    }
  });
  check_tables(fixture);
}

}  // namespace
}  // namespace ibpod
