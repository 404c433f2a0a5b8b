#include "sm/opensm/sweep_tracker.h"

#include <cstdlib>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod::sm::opensm {
namespace {

using Step = SweepTracker::Step;
using namespace std::chrono_literals;

// A model of OpenSM's sweeps: the version that it has read, and its log.
struct ModelledOpenSm {
  enum class State { idle, discovering, writing } state = State::idle;
  uint64_t file = 0;   // the version in place
  uint64_t read = 0;   // by the running sweep
  bool again = false;  // another sweep is requested
  int broken_off = 0;  // discoveries that a HUP restarted
  int begun = 0;
  std::vector<LogMark> log;
  std::vector<uint64_t> done;  // the version that each finished sweep had read

  void begin() {
    ++begun;
    log.push_back(LogMark::sweep_begins);
    state = State::discovering;
    again = false;
  }
  void sweep() {  // by a trap or a HUP
    if (state == State::idle) return begin();
    if (state == State::writing) again = true;
    if (state != State::discovering) return;
    ++broken_off;
    begin();
  }
  void go_on() {
    if (state == State::discovering) {
      read = file;
      if (read == 0) log.push_back(LogMark::default_config);
      state = State::writing;
    } else if (state == State::writing) {
      done.push_back(read);
      log.push_back(LogMark::subnet_up);
      state = State::idle;
      if (again) begin();
    }
  }
};

struct Bed {
  SweepTracker turn{SweepTracker::Limits{}};
  ModelledOpenSm sm;
  SweepTracker::Time now{};
  uint64_t version = 0;
  uint64_t written = 0;
  // When a file is being written, a sweep begins, or has already read the last file.
  enum class Trap { none, begins, reads } trap = Trap::none;
  bool deaf = false;  // a HUP has no effect
  std::vector<Step> steps;

  void hear() {
    for (const LogMark mark : std::exchange(sm.log, {})) turn.hear(mark, now);
  }
  void want() { turn.want(++version); }
  void start() {
    turn.started(now);
    sm.begin();
  }
  Step act() {
    hear();
    const Step step = turn.next(now);
    if (step != Step::nothing) steps.push_back(step);
    if (step == Step::place || step == Step::restore) {
      if (step == Step::place) written = turn.wanted();
      if (trap != Trap::none) sm.sweep();
      if (trap == Trap::reads) sm.go_on();
      sm.file = written;
      hear();
      if (step == Step::place) turn.placed(written);
      if (step == Step::restore) turn.restored();
    } else if (step == Step::hup) {
      turn.hupped(now);
      if (!deaf) sm.sweep();
    }
    return step;
  }
  void act_all() {
    while (act() != Step::nothing) {
    }
  }
  uint64_t swept() {
    act_all();
    return turn.standing().swept;
  }
  engine::Health health() {
    hear();
    return turn.standing().health;
  }
  // OpenSM has read the first version and is idle.
  void serve() {
    want();
    act_all();
    start();
    sm.go_on();
    sm.go_on();
    act_all();
    steps.clear();
  }
};

TEST_CASE("the first version is in place before OpenSM is there, whose first sweep reads it") {
  Bed bed;
  CHECK(bed.turn.standing().health == engine::Health::gone);
  bed.want();
  bed.act_all();
  CHECK(bed.turn.standing().placed == 1);
  bed.start();
  CHECK(bed.swept() == 0);
  bed.sm.go_on();
  bed.sm.go_on();
  CHECK(bed.swept() == 1);
  CHECK(bed.health() == engine::Health::serving);
  CHECK(bed.turn.standing().hups == 0);
}

TEST_CASE("what is wanted during a sweep comes together behind it") {
  Bed bed;
  bed.serve();
  bed.want();
  bed.act_all();
  CHECK(bed.steps == std::vector{Step::place, Step::hup});
  for (int i = 0; i < 10; ++i) {
    bed.want();
    CHECK(bed.act() == Step::nothing);
  }
  bed.sm.go_on();
  bed.sm.go_on();
  CHECK(bed.swept() == 2);
  CHECK(bed.turn.standing().placed == 12);
  CHECK(bed.turn.standing().hups == 2);
  CHECK(bed.sm.done == std::vector<uint64_t>{1, 2});
}

TEST_CASE("a sweep of OpenSM's own is not broken off, and proves nothing of a file behind it") {
  Bed bed;
  bed.serve();
  bed.sm.sweep();
  bed.want();
  bed.act_all();
  CHECK(bed.steps.empty());
  bed.sm.go_on();
  CHECK(bed.swept() == 1);
  bed.sm.go_on();
  CHECK(bed.swept() == 1);
  CHECK(bed.steps == std::vector{Step::place, Step::hup});
}

TEST_CASE("a sweep of its own that begins behind the file needs no HUP") {
  Bed bed;
  bed.serve();
  bed.want();
  CHECK(bed.act() == Step::place);
  bed.sm.sweep();
  CHECK(bed.act() == Step::nothing);
  bed.sm.go_on();
  bed.sm.go_on();
  CHECK(bed.swept() == 2);
  CHECK(bed.turn.standing().hups == 0);
}

TEST_CASE("while a sweep goes on that began before a version was in place, it is not placed") {
  Bed bed;
  bed.serve();
  bed.want();
  bed.trap = Bed::Trap::reads;
  CHECK(bed.act() == Step::place);
  CHECK(bed.turn.standing().placed == 1);
  CHECK(bed.act() == Step::nothing);
  bed.trap = Bed::Trap::none;
  bed.sm.go_on();
  CHECK(bed.act() == Step::hup);
  CHECK(bed.turn.standing().placed == 2);
  CHECK(bed.turn.standing().swept == 1);
  bed.sm.go_on();
  bed.sm.go_on();
  CHECK(bed.swept() == 2);
}

TEST_CASE("it is placed, too, when that sweep's OpenSM is gone") {
  Bed bed;
  bed.serve();
  bed.want();
  bed.trap = Bed::Trap::reads;
  CHECK(bed.act() == Step::place);
  bed.turn.gone();
  CHECK(bed.turn.standing().placed == 2);
}

TEST_CASE("whether a sweep goes on is not known behind a log that is lost") {
  Bed bed;
  bed.serve();
  bed.want();
  bed.turn.lost();
  CHECK(bed.act() == Step::place);
  CHECK(bed.turn.standing().placed == 1);
  CHECK(bed.act() == Step::hup);
  bed.hear();
  CHECK(bed.turn.standing().placed == 2);
}

// "Errors during initialization", and the next beginning at the same moment.
TEST_CASE("where sweeps follow each other without a pause, a version waits for one of them") {
  Bed bed;
  bed.serve();
  bed.turn.hear(LogMark::sweep_begins, bed.now);
  bed.want();
  const auto next_sweep = [&] {
    bed.now += 1s;
    bed.turn.hear(LogMark::sweep_failed, bed.now);
    bed.turn.hear(LogMark::sweep_begins, bed.now);
  };
  next_sweep();
  CHECK(bed.turn.next(bed.now) == Step::nothing);
  next_sweep();
  CHECK(bed.turn.alarm() <= bed.now);
  CHECK(bed.turn.next(bed.now) == Step::place);
  bed.turn.placed(2);
  CHECK(bed.turn.standing().placed == 1);
  CHECK(bed.turn.next(bed.now) == Step::nothing);
  next_sweep();
  CHECK(bed.turn.standing().placed == 2);
  CHECK(bed.turn.standing().swept == 1);
  next_sweep();
  CHECK(bed.turn.standing().swept == 2);
  CHECK(bed.turn.standing().hups == 0);
}

TEST_CASE("who has never been heard to begin a sweep is not asked again and again") {
  Bed bed;
  bed.want();
  bed.act_all();
  bed.turn.adopted(SweepTracker{SweepTracker::Limits{}}, bed.now);
  bed.deaf = true;
  for (int seconds = 0; seconds < 600; ++seconds, bed.now += 1s) bed.act_all();
  CHECK(bed.turn.standing().hups == 2);
  CHECK(bed.turn.standing().health == engine::Health::stuck);
  CHECK(!bed.turn.alarm());
  // Except once for each file.
  bed.want();
  for (int seconds = 0; seconds < 600; ++seconds, bed.now += 1s) bed.act_all();
  CHECK(bed.turn.standing().hups == 4);
  CHECK(bed.written == 2);
}

TEST_CASE("one that has just been started is sent no signal") {
  Bed bed;
  bed.want();
  bed.act_all();
  bed.turn.started(bed.now);
  bed.want();
  CHECK(bed.act() == Step::place);
  CHECK(bed.act() == Step::nothing);
  bed.sm.begin();
  bed.sm.go_on();
  bed.sm.go_on();
  CHECK(bed.swept() == 2);
}

TEST_CASE("a HUP that nothing follows is sent again") {
  Bed bed;
  bed.serve();
  bed.want();
  CHECK(bed.act() == Step::place);
  CHECK(bed.act() == Step::hup);
  bed.sm = {};  // the HUP was lost
  bed.sm.file = 2;
  CHECK(bed.act() == Step::nothing);
  CHECK(bed.turn.alarm() == bed.now + 2s);
  bed.now += 2s;
  CHECK(bed.act() == Step::hup);
  CHECK(bed.health() == engine::Health::stuck);
  bed.sm.go_on();
  bed.sm.go_on();
  CHECK(bed.swept() == 2);
  CHECK(bed.health() == engine::Health::serving);
}

TEST_CASE("a sweep that does not end is told of, and asked for again") {
  Bed bed;
  bed.serve();
  bed.want();
  bed.act_all();
  bed.hear();
  CHECK(bed.turn.alarm() == bed.now + 60s);
  bed.now += 60s;
  CHECK(bed.act() == Step::hup);
  CHECK(bed.health() == engine::Health::stuck);
  CHECK(bed.act() == Step::nothing);
  bed.sm.go_on();
  bed.sm.go_on();
  CHECK(bed.swept() == 2);
  CHECK(bed.health() == engine::Health::serving);
}

TEST_CASE("an OpenSM that does not begin to sweep is told of, and asked to") {
  Bed bed;
  bed.want();
  bed.act_all();
  bed.turn.started(bed.now);
  CHECK(bed.act() == Step::nothing);
  CHECK(bed.turn.alarm() == bed.now + 60s);
  bed.now += 60s;
  CHECK(bed.act() == Step::hup);
  CHECK(bed.health() == engine::Health::stuck);
  bed.sm.go_on();
  bed.sm.go_on();
  CHECK(bed.swept() == 1);
  CHECK(bed.health() == engine::Health::serving);
}

TEST_CASE("a sweep with errors is over, too: one silent port delays no other") {
  Bed bed;
  bed.serve();
  bed.want();
  bed.act_all();
  bed.hear();
  bed.turn.hear(LogMark::sweep_failed, bed.now + 5ms);
  const engine::EngineStatus status = bed.turn.standing();
  CHECK(status.swept == 2);
  CHECK(status.failed_sweeps == 1);
  CHECK(status.last_sweep == 5ms);
}

TEST_CASE("where OpenSM throws the file away, it is given it again at once") {
  Bed bed;
  bed.serve();
  bed.sm.file = 0;
  bed.sm.sweep();
  bed.sm.go_on();
  CHECK(bed.act() == Step::restore);
  CHECK(bed.health() == engine::Health::failed_open);
  CHECK(bed.swept() == 0);
  bed.sm.go_on();
  CHECK(bed.swept() == 0);  // that sweep has read the bad file
  bed.sm.go_on();
  bed.sm.go_on();
  CHECK(bed.swept() == 1);
  CHECK(bed.health() == engine::Health::serving);
  CHECK(bed.turn.standing().fail_opens == 1);
  CHECK(bed.steps == std::vector{Step::restore, Step::hup});
}

TEST_CASE("where that does not help, it is tried again, but not all the time") {
  Bed bed;
  bed.serve();
  for (const auto pause : {0s, 1s, 2s, 4s, 8s, 16s, 30s, 30s}) {
    bed.sm.file = 0;
    bed.sm.sweep();
    bed.sm.go_on();
    bed.sm.go_on();
    bed.hear();
    CAPTURE(pause.count());
    CHECK(*bed.turn.alarm() == bed.now + pause);
    bed.now += pause;
    CHECK(bed.act() == Step::restore);
  }
}

TEST_CASE("who has had another file in place has to read ours again") {
  Bed bed;
  bed.serve();
  bed.sm.sweep();
  bed.sm.go_on();
  bed.hear();
  bed.turn.violated();
  CHECK(bed.turn.standing().violations == 1);
  CHECK(bed.turn.standing().swept == 0);
  CHECK(bed.turn.standing().placed == 0);
  CHECK(bed.act() == Step::restore);
  // That sweep has read a file that is not ours.
  CHECK(bed.turn.standing().placed == 0);
  bed.sm.go_on();
  CHECK(bed.swept() == 0);
  CHECK(bed.turn.standing().placed == 1);
  CHECK(bed.steps == std::vector{Step::restore, Step::hup});
  bed.sm.go_on();
  bed.sm.go_on();
  CHECK(bed.swept() == 1);
  CHECK(bed.turn.standing().restores == 1);
}

TEST_CASE("another section of the administrator's is in force when a sweep has read it") {
  Bed bed;
  bed.serve();
  bed.sm.sweep();
  bed.hear();
  bed.turn.edited();
  CHECK(bed.turn.standing().edits == 1);
  bed.sm.go_on();
  bed.sm.go_on();
  CHECK(bed.swept() == 0);
  CHECK(bed.turn.standing().placed == 1);
  bed.sm.go_on();
  bed.sm.go_on();
  CHECK(bed.swept() == 1);
}

TEST_CASE("while another file is in place, OpenSM is not asked to read it") {
  Bed bed;
  bed.serve();
  bed.want();
  CHECK(bed.act() == Step::place);
  bed.turn.violated();
  bed.turn.failed(bed.now);
  bed.turn.violated();  // still the same file
  CHECK(bed.turn.standing().violations == 1);
  CHECK(!bed.turn.ours());
  CHECK(bed.act() == Step::nothing);
  bed.now += 1s;
  CHECK(bed.act() == Step::restore);
  CHECK(bed.turn.ours());
  CHECK(bed.act() == Step::hup);
}

TEST_CASE("what cannot be put into place is tried again later") {
  Bed bed;
  bed.serve();
  bed.want();
  bed.hear();
  CHECK(bed.turn.next(bed.now) == Step::place);
  bed.turn.failed(bed.now);
  CHECK(bed.turn.next(bed.now) == Step::nothing);
  CHECK(bed.turn.alarm() == bed.now + 1s);
  bed.now += 1s;
  CHECK(bed.act() == Step::place);
}

TEST_CASE("a standby is not asked to sweep; it reads the file when it becomes master") {
  Bed bed;
  bed.serve();
  bed.turn.hear(LogMark::standby, bed.now);
  CHECK(bed.health() == engine::Health::not_master);
  bed.want();
  bed.act_all();
  CHECK(bed.steps == std::vector{Step::place});
  bed.turn.hear(LogMark::discovering, bed.now);
  bed.sm.begin();
  bed.sm.go_on();
  bed.sm.go_on();
  CHECK(bed.swept() == 2);
  CHECK(bed.health() == engine::Health::serving);
}

TEST_CASE("that another one became master is counted, and nothing is in force then") {
  for (const LogMark way : {LogMark::standby, LogMark::not_active}) {
    Bed bed;
    bed.serve();
    // As after a port has come up.
    bed.turn.hear(LogMark::discovering, bed.now);
    bed.turn.hear(way, bed.now);
    CHECK(bed.turn.standing().losses == 1);
    CHECK(bed.turn.standing().swept == 0);
    bed.turn.hear(LogMark::discovering, bed.now);
    bed.turn.hear(way, bed.now);
    CHECK(bed.turn.standing().losses == 1);
  }
}

TEST_CASE("one that ran before has mastership to lose, too") {
  for (const bool meanwhile : {false, true}) {
    Bed bed;
    bed.serve();
    SweepTracker heard{SweepTracker::Limits{}};
    heard.started(bed.now);
    heard.hear(LogMark::master, bed.now);
    if (meanwhile) heard.hear(LogMark::standby, bed.now);
    bed.turn.gone();
    bed.turn.adopted(heard, bed.now);
    CHECK(bed.turn.standing().losses == (meanwhile ? 1 : 0));
    bed.turn.hear(LogMark::standby, bed.now);
    CHECK(bed.turn.standing().losses == 1);
    CHECK(bed.turn.standing().swept == 0);
  }
  SweepTracker fresh{SweepTracker::Limits{}};
  SweepTracker heard{SweepTracker::Limits{}};
  heard.started({});
  heard.hear(LogMark::master, {});
  fresh.adopted(heard, {});
  fresh.hear(LogMark::standby, {});
  CHECK(fresh.standing().losses == 1);
}

TEST_CASE("while the port of OpenSM is down, its looks at it are no sweeps") {
  Bed bed;
  bed.serve();
  for (int i = 0; i < 3; ++i) {
    bed.turn.hear(LogMark::sweep_begins, bed.now);
    if (i == 0) bed.turn.hear(LogMark::port_down, bed.now);
    bed.turn.hear(LogMark::discovering, bed.now);
    bed.now += 10s;
    CHECK(bed.turn.state() == SweepTracker::State::port_down);
    CHECK(bed.turn.standing().health == engine::Health::not_master);
  }
  bed.want();
  CHECK(bed.act() == Step::place);
  CHECK(bed.act() == Step::nothing);
  CHECK(bed.turn.standing().placed == 2);
  bed.sm.begin();
  bed.sm.log.push_back(LogMark::port_up);
  bed.sm.go_on();
  bed.sm.log.push_back(LogMark::master);
  bed.sm.go_on();
  CHECK(bed.swept() == 2);
  CHECK(bed.health() == engine::Health::serving);
  CHECK(bed.turn.standing().losses == 0);
}

TEST_CASE("of one that ran before nothing is proven until it has swept again") {
  for (const bool sweeping : {false, true}) {
    Bed bed;
    bed.want();
    bed.act_all();
    SweepTracker heard{SweepTracker::Limits{}};
    heard.started(bed.now);
    heard.hear(LogMark::master, bed.now);
    if (sweeping) {
      heard.hear(LogMark::sweep_begins, bed.now);
      bed.sm.state = ModelledOpenSm::State::discovering;
    }
    bed.turn.adopted(heard, bed.now);
    CHECK(bed.health() == engine::Health::serving);
    bed.act_all();
    if (sweeping) {
      bed.sm.go_on();
      bed.sm.go_on();
      CHECK(bed.swept() == 0);
    }
    CHECK(bed.turn.standing().hups == 1);
    bed.sm.go_on();
    bed.sm.go_on();
    CHECK(bed.swept() == 1);
  }
}

TEST_CASE("behind lines of the log that are lost a sweep is asked for") {
  Bed bed;
  bed.serve();
  bed.sm.sweep();
  bed.hear();
  bed.turn.lost();
  CHECK(bed.act() == Step::hup);
}

// Otherwise the engine's thread would not sleep.
TEST_CASE("no alarm is in the past where there is nothing to do") {
  std::mt19937 random(1);
  Bed bed;
  bed.serve();
  for (int i = 0; i < 20000; ++i) {
    switch (random() % 12) {
      case 0:
        bed.turn.violated();
        break;
      case 1:
        bed.turn.failed(bed.now);
        break;
      case 2:
        bed.want();
        break;
      case 3:
        bed.sm.file = 0;
        break;
      case 4:
        bed.turn.gone();
        break;
      case 5:
        bed.turn.started(bed.now);
        break;
      case 6:
        bed.turn.hear(LogMark::standby, bed.now);
        break;
      case 7:
        bed.turn.hear(LogMark::sweep_begins, bed.now);
        break;
      default:
        bed.sm.go_on();
    }
    bed.now += Duration(random() % 3000);
    bed.hear();
    if (bed.turn.next(bed.now) != Step::nothing) {
      if (random() % 2 == 0) bed.act();
    } else if (const auto alarm = bed.turn.alarm()) {
      CHECK(*alarm > bed.now);
    }
  }
}

// In any order of traps, versions and readings of the log.
TEST_CASE("in any order: no discovery is broken off, nothing starves, and swept is the truth") {
  const char* seed = std::getenv("SEED");
  std::mt19937 random(seed != nullptr ? static_cast<uint32_t>(std::atoi(seed)) : 1);
  for (int run = 0; run < 300; ++run) {
    CAPTURE(run);
    Bed bed;
    bed.serve();
    const bool trapped = run % 2 == 1;
    int unpaused = 0;
    for (int i = 0; i < 300; ++i) {
      const auto what = random() % 100;
      if (what < 10) bed.sm.sweep();
      const int broken_off = bed.sm.broken_off;
      if (what >= 10 && what < 40) bed.want();
      if (what >= 40 && what < 70) bed.sm.go_on();
      if (what >= 70) {
        const bool idle = bed.sm.state == ModelledOpenSm::State::idle;
        if (trapped) bed.trap = static_cast<Bed::Trap>(random() % 3);
        const bool placed = bed.act() == Step::place;
        // During a sweep, only a version that has waited for a whole one is placed.
        if (!trapped && placed && !idle) CHECK(++unpaused <= bed.sm.begun / 2);
      }
      if (!trapped) CHECK(bed.sm.broken_off == broken_off);
      const uint64_t swept = bed.turn.standing().swept;
      CHECK(bed.sm.done.back() >= swept);
      // A running sweep has read the version in place, or has not read yet.
      if (bed.sm.state == ModelledOpenSm::State::writing) {
        CHECK(bed.sm.read >= swept);
        CHECK(bed.sm.read >= bed.turn.standing().placed);
      }
      CHECK(bed.sm.file >= bed.turn.standing().placed);
    }
    bed.trap = Bed::Trap::none;
    for (int i = 0; i < 6; ++i) {
      bed.act_all();
      bed.sm.go_on();
    }
    CHECK(bed.swept() == bed.version);
    CHECK(bed.sm.done.back() == bed.version);
    CHECK(bed.turn.standing().hups <= bed.turn.standing().sweeps);
  }
}

}  // namespace
}  // namespace ibpod::sm::opensm
