// How often UFM is changed: its OpenSM needs time for each change.
#include "sm/ufm/reconciler.h"
#include "sm/ufm/test_reconciler_bed.h"

namespace ibpod::sm::ufm::test {
namespace {

struct PacedBed : Bed {
  PacedBed() {
    settings.pacing = {};
    start();
  }
  static ib::Guid port(uint64_t number) { return ib::Guid(number * 0x100); }
  // The pods that have come are in one partition.
  void come(uint64_t first, uint64_t count) {
    for (uint64_t n = first; n < first + count; ++n) desire[kBlue][port(n)] = kFull;
    want(desire);
  }
  void show(uint64_t number) { reconciler->note_in_force(port(number), now); }
  size_t changes() const { return calls(Operation::post) + calls(Operation::remove_guids); }
};

TEST_CASE_FIXTURE(PacedBed,
                  "a lone pod is sent at once; the next ones go together when it is in force") {
  come(1, 1);
  run();
  CHECK(status().placed == version);
  CHECK(changes() == 1);
  for (uint64_t n = 2; n < 50; ++n) {
    come(n, 1);
    pass(milliseconds(10));
  }
  CHECK(changes() == 1);
  CHECK_MESSAGE(calls(Operation::read) == 1, "nothing has changed that would have to be read");
  show(1);
  run();
  CHECK(changes() == 2);
  CHECK(in_ufm() == desired());
  CHECK(status().placed == version);
}

TEST_CASE_FIXTURE(PacedBed, "without a sign they go after the pause, which wakes the caller") {
  come(1, 1);
  run();
  come(2, 1);
  run();
  CHECK(changes() == 1);
  const auto alarm = reconciler->alarm(now);
  REQUIRE(alarm);
  CHECK(*alarm <= now + seconds(1));
  pass(seconds(1));
  CHECK(changes() == 2);
  CHECK(in_ufm() == desired());
}

TEST_CASE_FIXTURE(PacedBed,
                  "one batch has all that is to be changed: P_Keys, memberships, removals") {
  want({{kBlue, {{kA, kFull}, {kB, kLimited}}}, {kRed, {{kA, kFull}, {kC, kLimited}}}});
  run();
  CHECK(in_ufm() == desired());
  CHECK(changes() == 4);
  pass(minutes(1));
  want({{kBlue, {{kA, kLimited}}}});
  run();
  CHECK(in_ufm() == desired());
}

TEST_CASE_FIXTURE(PacedBed, "what UFM refuses has not changed it, and makes nothing wait") {
  ufm.set_known({port(1), port(2)});
  ufm.set_switches({.accepts_unknown_guids = false});
  come(3, 1);
  run();
  CHECK(changes() == 1);
  come(1, 1);
  run();
  CHECK(members(kBlue).contains(port(1)));
}

TEST_CASE_FIXTURE(PacedBed, "a member that UFM made a full one is removed without a pause") {
  api.widens = true;
  want({{kBlue, {{kA, kLimited}, {kB, kFull}}}});
  run();
  CHECK(members(kBlue) == Members{{kB, kFull}});
}

TEST_CASE_FIXTURE(PacedBed, "our ports leave another user's P_Key without a pause") {
  api.before = [this] {
    if (api.next == Operation::post) admin(Operation::post, kBlue, {kForeign});
  };
  want({{kBlue, {{kA, kFull}}}});
  run();
  CHECK(members(kBlue) == Members{{kForeign, kFull}});
}

// A pod every 20 ms; UFM's OpenSM needs three seconds for a change, and begins again with each.
TEST_CASE_FIXTURE(PacedBed,
                  "under a storm UFM is changed no more often than its OpenSM can sweep") {
  constexpr seconds kSweep{3};
  struct Sweep {
    Members read;
    Reconciler::Time ends;
  };
  std::optional<Sweep> running;
  size_t seen = 0, interrupted = 0;
  std::set<ib::Guid> tables;
  const auto simulate = [&] {
    if (changes() > seen) {
      if (running) ++interrupted;
      running = {members(kBlue), now + kSweep};
      seen = changes();
    }
    if (!running || now < running->ends) return;
    for (const auto& [guid, values] : running->read)
      if (tables.insert(guid).second) reconciler->note_in_force(guid, now);
    running.reset();
  };
  come(1, 1);
  for (int n = 0; n < 200; ++n) {
    run();
    simulate();
    pass(milliseconds(20));
  }
  REQUIRE(tables.size() == 1);
  for (uint64_t n = 2; n <= 1000; ++n) {
    come(n, 1);
    pass(milliseconds(10));
    simulate();
  }
  CHECK_MESSAGE(tables.size() > 500, "in force while they come");
  CHECK(interrupted <= 2);
  for (int n = 0; n < 700; ++n) {
    pass(milliseconds(10));
    simulate();
  }
  CHECK(tables.size() == 1000);
  CHECK(changes() < 20);
}

}  // namespace
}  // namespace ibpod::sm::ufm::test
