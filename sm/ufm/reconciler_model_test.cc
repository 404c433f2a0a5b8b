// Random courses of changes, faults, ends of the process between any two steps, and of what another
// administrator does; and the state that must follow from each.
//   ROUNDS=N  courses, each with the next seed (300)
//   SEED=N    the first seed (1)
#include "sm/ufm/reconciler.h"
#include "sm/ufm/test_reconciler_bed.h"

#include <array>
#include <cstdlib>
#include <random>

namespace ibpod::sm::ufm::test {
namespace {

constexpr int kPKeys = 4;
constexpr ib::PKey kTaken{kLeast.value() + kPKeys - 1};  // another user has it from the beginning

// The end of the process: thrown through the code, so that nothing after it happens.
struct Killed {};

class Course : public Bed {
 public:
  explicit Course(unsigned seed) : random_(seed) {
    ufm.set_switches({.post_creates = pick(4) != 0,
                      .removal_of_last_deletes = pick(4) != 0,
                      .atomic = pick(2) != 0,
                      .missing_is_404 = pick(2) != 0,
                      .post_overwrites_ip_over_ib = pick(2) != 0,
                      .index0_once = pick(2) != 0});
    fake_ufm::Partitions partitions = ufm.partitions();
    partitions[kTaken] = {"theirs", true, {}, {{kForeign, {}}}};
    ufm.set_partitions(std::move(partitions));
    api.before = [this] { kill_if_due(); };
    api.after = [this] { kill_if_due(); };
    want_something();
  }

  void step() {
    switch (pick(10)) {
      case 0:
      case 1:
      case 2:
        return want_something();
      case 3:
        return inject_something();
      case 4:
        return disturb();
      case 5:
        kill_in_ = pick(12);
        return;
      case 6:
        api.widens = pick(6) == 0;
        api.keeps_values = pick(6) == 0;
        api.hides_values = pick(12) == 0;
        disturbed_at_ = counts().scans;
        return;
      case 7:
        api.down = pick(8) == 0;
        api.standby = pick(8) == 0;
        return;
      default:
        return let_time_pass(Duration(pick(30'000)));
    }
  }

  // All faults end, and what others have put into our partitions goes.
  void recover() {
    ufm.clear_faults();
    kill_in_ = -1;
    api.widens = api.keeps_values = api.hides_values = api.down = api.standby = false;
    for (uint16_t pkey = kLeast.value(); pkey <= kMost.value(); ++pkey)
      admin(Operation::remove_guids, ib::PKey(pkey), foreign());
    settle(60);
    // Leaving members are forgotten.
    pass(minutes(13));
  }

 private:
  static std::vector<ib::Guid> foreign() { return {kForeign, ib::Guid(0xf1), ib::Guid(0xf2)}; }

  int pick(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }
  ib::PKey pick_pkey() { return ib::PKey(static_cast<uint16_t>(kLeast.value() + pick(kPKeys))); }
  ib::Guid pick_port() { return ib::Guid(static_cast<uint64_t>(0xa00 + pick(6))); }

  // A port has index 0 in one partition at most.
  void want_something() {
    Desire next = desire;
    for (int changes = 1 + pick(4); changes > 0; --changes) {
      Members& members = next[pick_pkey()];
      const ib::Guid port = pick_port();
      if (pick(3) == 0) {
        members.erase(port);
        continue;
      }
      const bool index0 = pick(3) == 0;
      if (index0)
        for (auto& [pkey, others] : next)
          if (const auto other = others.find(port); other != others.end())
            other->second.index0 = false;
      members[port] = {pick(2) == 0 ? ib::Membership::full : ib::Membership::limited, index0};
    }
    if (pick(8) == 0) next.erase(pick_pkey());
    want(std::move(next));
  }

  void inject_something() {
    const std::array kinds{FaultKind::refuse,     FaultKind::html, FaultKind::half_done,
                           FaultKind::ignore,     FaultKind::hang, FaultKind::lose_answer,
                           FaultKind::hang_after, FaultKind::slow, FaultKind::truncate};
    const std::array statuses{400, 401, 403, 404, 409, 500, 503};
    const std::array operations{Operation::list, Operation::read, Operation::post,
                                Operation::remove_guids, Operation::add_empty};
    inject(kinds[static_cast<size_t>(pick(9))], {operations[static_cast<size_t>(pick(5))]},
           statuses[static_cast<size_t>(pick(7))], 1 + pick(3));
  }

  // Not that of the other user.
  void disturb() {
    const ib::PKey pkey(static_cast<uint16_t>(kLeast.value() + pick(kPKeys - 1)));
    disturbed_at_ = counts().scans;
    switch (pick(6)) {
      case 0:
        return admin(Operation::post, pkey, {foreign()[static_cast<size_t>(pick(3))]});
      case 1:
        return admin(Operation::delete_partition, pkey);
      case 2:
        return admin(Operation::remove_guids, pkey, {pick_port()});
      case 3: {
        // Wider than it was, if it is a member.
        const ib::Guid port = pick_port();
        if (members(pkey).contains(port)) admin(Operation::post, pkey, {port});
        return;
      }
      default:
        (void)ufm.lose_writes(static_cast<size_t>(1 + pick(3)));  // as many as there are
        if (pick(2) == 0) ++api.found_generation;
        return;
    }
  }

  void kill_if_due() {
    if (kill_in_ >= 0 && kill_in_-- == 0) throw Killed();
  }

  void let_time_pass(Duration time) {
    const Reconciler::Time end = now + time;
    failed_ = counts().failed;
    while (now < end) {
      try {
        pass(std::chrono::duration_cast<Duration>(end - now));
      } catch (const Killed&) {
        start();
        disturbed_at_ = 0;
      }
    }
    check_innocent();
    check_honest();
    CHECK(members(kTaken) == Members{{kForeign, kFull}});
  }

  // All that is reported as in place is in UFM, but for the ports with faults, if UFM has not been
  // changed by others since it was read.
  void check_honest() const {
    if (status().placed != version || counts().scans <= disturbed_at_) return;
    std::set<std::pair<ib::Guid, engine::PortFault::Kind>> faults;
    for (const engine::PortFault& fault : reconciler->states().port_faults())
      faults.emplace(fault.port, fault.kind);
    for (uint16_t value = kLeast.value(); value < kLeast.value() + kPKeys; ++value) {
      const ib::PKey pkey(value);
      const auto partition = desire.find(pkey);
      const Members desired = partition == desire.end() ? Members{} : partition->second;
      const Members present = members(pkey);
      for (const auto& [port, values] : present)
        if (!desired.contains(port) && !is_foreign(port))
          CHECK(faults.contains({port, engine::PortFault::Kind::not_removed}));
      for (const auto& [port, values] : desired) {
        const auto found = present.find(port);
        const bool is_there = found != present.end();
        // It is removed at once, if no call fails.
        const bool is_wider = is_there && counts().failed == failed_ && !api.hides_values &&
                              values.membership == ib::Membership::limited &&
                              found->second.membership == ib::Membership::full;
        if (!is_there || found->second != values)
          CHECK((faults.contains({port, engine::PortFault::Kind::not_removed}) ||
                 (!is_wider && faults.contains({port, engine::PortFault::Kind::not_added}))));
      }
    }
  }

  std::mt19937 random_;
  uint64_t disturbed_at_ = 0;  // when so many scans had been made
  uint64_t failed_ = 0;        // calls, before the last time that passed
  int kill_in_ = -1;           // calls' beginnings and ends until then; -1: never
};

unsigned setting(const char* variable, unsigned otherwise) {
  const char* const given = std::getenv(variable);
  return given == nullptr ? otherwise : static_cast<unsigned>(std::atoi(given));
}

TEST_CASE("whatever happens, UFM and our record are as desired when it is over") {
  const unsigned first = setting("SEED", 1), rounds = setting("ROUNDS", 300);
  REQUIRE(rounds > 0);
  for (unsigned seed = first; seed < first + rounds; ++seed) {
    CAPTURE(seed);
    Course course(seed);
    for (int steps = 0; steps < 40; ++steps) course.step();
    course.recover();
    course.check_converged();
    CHECK(course.recorded(true).empty());
    CHECK(course.members(kTheirs) == Members{{kA, kFull}, {kForeign, kFull}});
  }
}

// Each step of a change is the last one of a process once.
TEST_CASE("killed at the beginning or the end of any call, the next process goes on") {
  const Desire before{{kBlue, {{kA, kFull}, {kB, kFull}}}, {kRed, {{kA, kFirst}}}};
  const Desire after{{kBlue, {{kA, kLimited}, {kC, kFull}}}};
  for (int calls = 0;; ++calls) {
    CAPTURE(calls);
    Bed bed;
    bed.reach(before);
    int left = calls;
    bool killed = false;
    const auto kill = [&] {
      if (left-- != 0) return;
      killed = true;
      throw Killed();
    };
    bed.api.before = bed.api.after = kill;
    bed.want(after);
    try {
      bed.run();
    } catch (const Killed&) {
      bed.check_innocent();
      bed.start();
      bed.run();
    }
    CHECK(bed.in_ufm() == bed.desired());
    CHECK(bed.recorded() == bed.desired());
    CHECK(bed.status().placed == bed.version);
    bed.check_innocent();
    if (!killed) break;
  }
}

}  // namespace
}  // namespace ibpod::sm::ufm::test
