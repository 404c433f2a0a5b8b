#include "sm/ufm/change_pacer.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod::sm::ufm {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr ib::Guid kA{0xa}, kB{0xb}, kC{0xc};

struct Fixture {
  void pass(Duration time) {
    now += time;
    pacer.advance(now);
  }
  void send(const std::vector<ib::Guid>& added) { pacer.changed(true, added, now); }
  void shows(ib::Guid port) { pacer.in_force(port, now); }
  // A change that no other one disturbs is in force after this time.
  void measure(Duration time) {
    pass(minutes(5));
    send({kA});
    pass(time);
    shows(kA);
  }

  ChangePacer pacer{{Duration(1000), Duration(200), Duration(10'000)}};
  ChangePacer::Time now{std::chrono::hours(1)};
};

TEST_CASE_FIXTURE(Fixture, "a lone change is sent at once, the next one when it is in force") {
  CHECK(pacer.may_begin(now));
  CHECK_FALSE(pacer.due());
  send({kA, kB});
  CHECK_FALSE(pacer.may_begin(now));
  pass(milliseconds(500));
  shows(kC);
  CHECK_MESSAGE(!pacer.may_begin(now), "it was not changed");
  shows(kB);
  CHECK_MESSAGE(pacer.may_begin(now), "one of its ports is enough: OpenSM has read it");
  CHECK_FALSE(pacer.due());
}

TEST_CASE_FIXTURE(Fixture, "without a sign the next change comes after a pause") {
  SUBCASE("its ports are down") { send({kA}); }
  SUBCASE("it was a removal, which no table shows soon") { send({}); }
  CHECK(pacer.due() == now + seconds(1));
  pass(milliseconds(999));
  CHECK_FALSE(pacer.may_begin(now));
  pass(milliseconds(1));
  CHECK(pacer.may_begin(now));
}

TEST_CASE_FIXTURE(Fixture, "the pause is counted from the last call of a batch") {
  send({kA});
  pass(milliseconds(900));
  pacer.changed(false, {kB}, now);
  CHECK(pacer.due() == now + seconds(1));
  pass(milliseconds(100));
  shows(kB);
  CHECK(pacer.may_begin(now));
}

TEST_CASE_FIXTURE(Fixture, "the pause is half of what a change was seen to take, within limits") {
  measure(seconds(3));
  CHECK(pacer.pause() == milliseconds(1500));
  SUBCASE("a later one alters it little") {
    measure(seconds(5));
    CHECK(pacer.pause() == milliseconds(1470));
  }
  SUBCASE("at least") {
    Fixture fast;
    fast.measure(milliseconds(20));
    CHECK(fast.pacer.pause() == milliseconds(200));
  }
  SUBCASE("at most") {
    Fixture slow;
    slow.measure(seconds(70));
    CHECK(slow.pacer.pause() == seconds(10));
  }
}

// A UFM under a constant flow of changes, with its OpenSM.
struct Flow : Fixture {
  // UFM gives OpenSM a file this long after a change, with all until then; 0: at each change. A
  // sweep begins again with each file.
  Duration collects{0}, sweep{0};
  size_t sent = 0, interrupted = 0;
  Duration slowest{0};

  void run(Duration time) {
    for (const ChangePacer::Time end = now + time; now < end; pass(milliseconds(10))) {
      if (pacer.may_begin(now)) {
        send({ib::Guid(++sent)});
        stored.emplace_back(ib::Guid(sent), now);
        if (!file_due) file_due = now + collects;
      }
      if (file_due && now >= *file_due) {
        if (sweep_ends) ++interrupted;
        in_file = stored;
        sweep_ends = now + sweep;
        file_due.reset();
      }
      if (!sweep_ends || now < *sweep_ends) continue;
      for (const auto& [port, since] : in_file) {
        shows(port);
        slowest = std::max(slowest, std::chrono::duration_cast<Duration>(now - since));
      }
      stored.erase(stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(in_file.size()));
      in_file.clear();
      sweep_ends.reset();
    }
  }

  std::optional<ChangePacer::Time> file_due, sweep_ends;
  std::vector<std::pair<ib::Guid, ChangePacer::Time>> stored, in_file;
};

TEST_CASE_FIXTURE(Flow, "a UFM that collects changes itself gets them as they come") {
  collects = seconds(4);
  sweep = milliseconds(500);
  measure(collects + sweep);
  pass(minutes(1));
  run(minutes(2));
  CHECK(pacer.pause() == milliseconds(200));
  CHECK(sent > 300);
  CHECK(interrupted == 0);
  CHECK(slowest <= seconds(5));
}

TEST_CASE_FIXTURE(Flow, "an OpenSM that each change disturbs gets time for its sweeps") {
  SUBCASE("of a second") { sweep = seconds(1); }
  SUBCASE("of three") { sweep = seconds(3); }
  SUBCASE("of eight") { sweep = seconds(8); }
  measure(sweep);
  pass(minutes(1));
  run(minutes(4));
  CHECK(sent >= static_cast<size_t>(minutes(4) / sweep) * 3 / 4);
  CHECK_MESSAGE(interrupted * 7 <= sent, "it finds out from time to time");
  CHECK(slowest <= 4 * sweep);
}

TEST_CASE_FIXTURE(Flow,
                  "of a UFM that nothing is known about yet, the first change says how long") {
  sweep = seconds(2);
  run(minutes(2));
  CHECK(sent >= 45);
  CHECK(interrupted * 7 <= sent);
  // Without any sign the pauses are the longest ones.
  Flow blind;
  blind.sweep = minutes(10);
  blind.run(minutes(5));
  CHECK(blind.pacer.pause() == seconds(10));
  CHECK(blind.sent > 25);
}

TEST_CASE_FIXTURE(Flow, "if a first measurement was too short, it is corrected under way") {
  measure(milliseconds(100));
  pass(minutes(1));
  sweep = seconds(4);
  run(minutes(1));
  interrupted = 0;
  const size_t before = sent;
  run(minutes(4));
  CHECK(sent - before >= 40);
  CHECK(interrupted * 5 <= sent - before);
}

TEST_CASE_FIXTURE(Fixture, "changes that are late make the pause as long as one takes, no longer") {
  measure(seconds(2));
  CHECK(pacer.pause() == seconds(1));
  for (int round = 0; round < 10; ++round) {
    pass(minutes(1));
    send({kA});
    pass(seconds(1));
    send({kB});
    pass(seconds(3));
    CHECK(pacer.pause() <= milliseconds(2500));
    CHECK(pacer.pause() >= milliseconds(2400));
    const Duration noticed = pacer.pause();
    shows(kA);
    CHECK_MESSAGE(pacer.pause() == noticed, "it counts once");
    shows(kB);
    CHECK(pacer.pause() == noticed * 49 / 50);
  }
}

TEST_CASE_FIXTURE(Fixture,
                  "ports that never show a change do not slow down those that come later") {
  measure(seconds(1));
  for (int round = 0; round < 10; ++round) {
    pass(seconds(15));
    send({kB});
  }
  CHECK(pacer.pause() == milliseconds(500));
  pass(seconds(2));
  CHECK(pacer.may_begin(now));
}

TEST_CASE_FIXTURE(Fixture, "what waits for a sign is limited") {
  for (uint64_t port = 1; port <= 1000; ++port) send({ib::Guid(port)});
  pass(milliseconds(10));
  shows(ib::Guid(1));
  CHECK_MESSAGE(!pacer.may_begin(now), "it is forgotten");
  shows(ib::Guid(1000));
  CHECK(pacer.may_begin(now));
}

}  // namespace
}  // namespace ibpod::sm::ufm
