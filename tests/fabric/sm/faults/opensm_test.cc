// OpenSM is killed, or stands still, at any moment of what pods do: what is acknowledged is so in
// every reading of the ports, and in the end everything is as it was asked for.
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

constexpr Duration kPatience{90000};
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

// Pods that come and go at a host until they are told to stop; the last one stays.
size_t come_and_go(SmBed& bed, Reader& reader, unsigned host, const std::stop_token& stop) {
  size_t rounds = 0;
  while (true) {
    const std::string container = "c" + std::to_string(rounds);
    reader.unsure(host);
    in_the_end("verified", [&] { return bed.bind(host, "blue", container, kPatience); });
    reader.expect(host, kBlue, true);
    if (stop.stop_requested()) return rounds;
    reader.unsure(host);
    in_the_end("released", [&] { return bed.unbind(host, container, kPatience); });
    reader.expect(host, kBlue, false);
    ++rounds;
  }
}

// Hosts 2 to 4 all the while that `body` runs; host 1 is bound and stays so.
template <typename Body>
void under_way(SmBed& bed, const Body& body) {
  REQUIRE(bed.bind(1, "blue") == "verified");
  Reader reader(bed.subnet);
  reader.expect(1, kBlue, true);
  std::stop_source stop;
  std::vector<std::future<size_t>> pods;
  for (unsigned host = 2; host < 5; ++host)
    pods.push_back(std::async(std::launch::async, [&, host] {
      return come_and_go(bed, reader, host, stop.get_token());
    }));
  body();
  stop.request_stop();
  size_t rounds = 0;
  for (auto& one : pods) rounds += one.get();
  const Reader::Sum sum = reader.end();
  MESSAGE(rounds << " pods have come and gone; readings judged " << sum.judged << ", wrong "
                 << sum.wrong);
  CHECK(rounds > 0);
  CHECK(sum.wrong == 0);
  CHECK(sum.judged > 0);
}

TEST_CASE("OpenSM is killed at any moment of Binds and Unbinds") {
  SmBed bed;
  bed.partition("blue");
  std::mt19937 random = random_of("opensm");
  under_way(bed, [&] {
    const int times = all_steps() ? 15 : 2;
    for (int round = 0; round < times; ++round) {
      CAPTURE(round);
      for (auto n = random() % 20; n > 0; --n) (void)bed.well();  // as long as that takes
      const auto before = bed.opensm();
      bed.kill_opensm();
      bed.until([&] {
        const auto now = bed.opensm();
        return now && now != before && bed.well();
      });
    }
  });
  check_truth(bed);
}

TEST_CASE("OpenSM and ibpod-sm are killed at the same moment") {
  SmBed bed;
  bed.partition("blue");
  REQUIRE(bed.bind(1, "blue") == "verified");
  Console console;
  const int times = all_steps() ? 20 : 2;
  for (int round = 0; round < times; ++round) {
    CAPTURE(round);
    console.forget_dead();  // the simulator has room for ten
    auto binding = std::async(std::launch::async, [&] { return bed.bind(2, "blue"); });
    (void)bed.well();
    if (round % 2 == 0) bed.kill_opensm();
    bed.kill();
    if (round % 2 != 0) bed.kill_opensm();
    binding.wait();
    bed.start();
    CHECK(bed.bind(2, "blue") == "verified");
    bed.until([&] { return bed.all_verified(); });
    check_truth(bed);
    CHECK(bed.unbind(2) == "released");
    check_truth(bed);
  }
}

TEST_CASE("OpenSM stands still: told at the deadline, and done when it goes on") {
  SmBed bed;
  bed.partition("blue");
  REQUIRE(bed.bind(1, "blue") == "verified");
  std::mt19937 random = random_of("frozen");
  const int times = all_steps() ? 20 : 2;
  for (int round = 0; round < times; ++round) {
    CAPTURE(round);
    for (auto n = random() % 10; n > 0; --n) (void)bed.well();
    bed.signal_opensm(SIGSTOP);
    const auto bound =
        bed.client().bind(SmBed::request(2, "blue"), SmBed::patience(Duration(4000)));
    REQUIRE(bound);
    CHECK(bound->state != fabric::State::verified);
    CHECK(bound->standing.reason != fabric::Reason::none);
    CHECK_FALSE(bound->standing.text.empty());
    check_claims(bed);
    CHECK(keys_in(bed.table(kSmHost)) == std::vector{ib::kDefaultFull});
    bed.signal_opensm(SIGCONT);
    bed.until([&] { return bed.all_verified(); });
    bed.until_well();
    check_truth(bed);
    CHECK(bed.unbind(2) == "released");
    check_truth(bed);
  }
}

TEST_CASE("OpenSM stands still while pods come and go") {
  SmBed bed;
  bed.partition("blue");
  std::mt19937 random = random_of("frozen under way");
  under_way(bed, [&] {
    const int times = all_steps() ? 20 : 1;
    for (int round = 0; round < times; ++round) {
      CAPTURE(round);
      for (auto n = random() % 20; n > 0; --n) (void)bed.well();
      bed.signal_opensm(SIGSTOP);
      // What waits for it takes its time.
      const auto late =
          bed.client().bind(SmBed::request(5, "blue"), SmBed::patience(Duration(3000)));
      CHECK(late);
      bed.signal_opensm(SIGCONT);
      CHECK(bed.unbind(5, "c1", kPatience) == "released");
    }
  });
  check_truth(bed);
}

}  // namespace
}  // namespace ibpod
