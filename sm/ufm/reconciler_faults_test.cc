// Each fault of UFM with each operation: nothing of others is changed, no member stays wider than
// desired, and in the end UFM and the record are as desired.
//   TABLE=PATH  writes a table there: what each fault does to each operation
#include "sm/ufm/reconciler.h"
#include "sm/ufm/test_reconciler_bed.h"

#include <cstdio>
#include <cstdlib>

namespace ibpod::sm::ufm::test {
namespace {

using engine::Health;

// A change that needs every kind of call: kB is added, kA is narrowed and kC removed, and kRed
// ends.
const Desire kBefore{{kBlue, {{kA, kFull}, {kC, kFull}}}, {kRed, {{kA, kFull}}}};
const Desire kAfter{{kBlue, {{kA, kLimited}, {kB, kFirst}}}};

// The effects of a fault, from the desire until UFM had it and that was known.
struct Course {
  std::set<Health> healths;      // other than serving
  std::set<std::string> faults;  // kinds, of ports
  int64_t seconds = 0;
  size_t writes = 0, reads = 0;
};

size_t writes_of(const Bed& bed) {
  return bed.calls(Operation::post) + bed.calls(Operation::remove_guids);
}
size_t reads_of(const Bed& bed) { return bed.calls(Operation::list) + bed.calls(Operation::read); }

Course watch(Bed& bed) {
  Course course;
  const auto begun = bed.now;
  const size_t writes = writes_of(bed), reads = reads_of(bed);
  bed.run();
  while (bed.in_ufm() != bed.desired() || bed.status().placed != bed.version ||
         bed.status().health != Health::serving) {
    REQUIRE(bed.now - begun < minutes(60));
    if (bed.status().health != Health::serving) course.healths.insert(bed.status().health);
    for (const engine::PortFault& fault : bed.reconciler->states().port_faults())
      course.faults.insert(fault.kind == engine::PortFault::Kind::not_added ? "not added"
                                                                            : "not removed");
    bed.pass(milliseconds(100));
  }
  course.seconds = std::chrono::duration_cast<seconds>(bed.now - begun).count();
  course.writes = writes_of(bed) - writes;
  course.reads = reads_of(bed) - reads;
  return course;
}

// On demand.
class Table {
 public:
  Table() {
    if (const char* const path = std::getenv("TABLE")) file_ = std::fopen(path, "w");
    if (file_ == nullptr) return;
    std::fprintf(file_,
                 "| fault | operation | times | s until in UFM and known | changes sent | "
                 "reads | health meanwhile | faults of ports meanwhile |\n"
                 "|---|---|---|---|---|---|---|---|\n");
  }
  ~Table() {
    if (file_ != nullptr) std::fclose(file_);
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  Table(Table&&) = delete;
  Table& operator=(Table&&) = delete;

  void add(const std::string& fault, const std::string& operation, int times,
           const Course& course) const {
    if (file_ == nullptr) return;
    std::fprintf(file_, "| %s | %s | %d | %lld | %zu | %zu | %s | %s |\n", fault.c_str(),
                 operation.c_str(), times, static_cast<long long>(course.seconds), course.writes,
                 course.reads,
                 course.healths.empty()
                     ? "serving"
                     : join(course.healths, ", ",
                            [](Health health) { return std::string(engine::name(health)); })
                           .c_str(),
                 course.faults.empty() ? "none" : join(course.faults, ", ").c_str());
  }

 private:
  std::FILE* file_ = nullptr;
};

TEST_CASE("whatever fault meets whatever call, UFM is as desired in the end") {
  const Table table;
  const struct {
    const char* about;
    FaultKind kind;
    int status;
  } faults[] = {
      {"the value is refused", FaultKind::refuse, 400},
      {"no right", FaultKind::refuse, 403},
      {"no such thing", FaultKind::refuse, 404},
      {"UFM fails", FaultKind::refuse, 500},
      {"a proxy answers", FaultKind::html, 503},
      {"the half is done, and UFM fails", FaultKind::half_done, 500},
      {"the half is done, the rest refused", FaultKind::half_done, 400},
      {"accepted, and ignored", FaultKind::ignore, 200},
      {"done, the answer is lost", FaultKind::lose_answer, 200},
      {"not done, no answer", FaultKind::hang, 200},
      {"done, no answer", FaultKind::hang_after, 200},
      {"done, half an answer", FaultKind::truncate, 200},
  };
  for (const auto& fault : faults)
    for (const Operation operation :
         {Operation::list, Operation::read, Operation::post, Operation::remove_guids})
      for (const int times : {1, 8})
        for (const bool restarts : {false, true}) {
          CAPTURE(fault.about);
          CAPTURE(name(operation));
          CAPTURE(times);
          CAPTURE(restarts);
          Bed bed;
          bed.reach(kBefore);
          bed.inject(fault.kind, {operation}, fault.status, times);
          bed.want(kAfter);
          if (restarts) {
            bed.run();
            bed.check_innocent();
            bed.start();
          } else {
            table.add(fault.about, std::string(name(operation)), times, watch(bed));
          }
          bed.settle(60);
          bed.check_converged();
        }
}

TEST_CASE_FIXTURE(Bed, "one refused port keeps no other from being added, and costs few calls") {
  Members members;
  std::set<ib::Guid> known;
  for (uint64_t n = 1; n <= kMostGuids; ++n) members[ib::Guid(n * 0x100)] = kFull;
  for (const auto& [guid, values] : members) known.insert(guid);
  known.erase(ib::Guid(0x2300));
  ufm.set_known(known);
  ufm.set_switches({.accepts_unknown_guids = false});
  want({{kBlue, members}});
  run();
  CHECK(in_ufm().at(kBlue).size() == kMostGuids - 1);
  CHECK(status().placed == 1);
  CHECK(status().health == Health::serving);
  CHECK(calls(Operation::post) <= 20);
  CHECK(calls(Operation::read) <= 20);
  CHECK(faults() == "00 not_added");
  CHECK(fault_text() ==
        "UFM refuses to add the port: P_Key 0x0010: 404: GUID 0000000000002300 not found");
  // It comes without the others from now on, and when UFM knows it.
  members[kA] = kFull;
  known.insert(kA);
  ufm.set_known(known);
  want({{kBlue, members}});
  run();
  CHECK(status().placed == 2);
  CHECK(in_ufm().at(kBlue).size() == kMostGuids);
  known.insert(ib::Guid(0x2300));
  ufm.set_known(known);
  pass(minutes(6));
  check_converged();
}

TEST_CASE_FIXTURE(Bed, "if UFM refuses all ports of a partition, the calls are limited") {
  Members members;
  for (uint64_t n = 1; n <= 128; ++n) members[ib::Guid(n * 0x100)] = kFull;
  ufm.set_known({kA});
  ufm.set_switches({.accepts_unknown_guids = false});
  want({{kBlue, members}, {kRed, {{kA, kFull}}}});
  run();
  CHECK(in_ufm() == Desire{{kRed, {{kA, kFull}}}});
  CHECK(status().placed == 1);
  CHECK(calls(Operation::post) < 140);
  const size_t before = calls(Operation::post);
  pass(minutes(2));
  CHECK(calls(Operation::post) - before < 700);
}

TEST_CASE_FIXTURE(Bed, "of a member that UFM makes a full one, nothing stays but a fault") {
  reach({{kBlue, {{kB, kLimited}}}});
  api.widens = true;
  want({{kBlue, {{kA, kLimited}, {kB, kLimited}, {kC, kFull}}}});
  run();
  CHECK(in_ufm() == Desire{{kBlue, {{kB, kLimited}, {kC, kFull}}}});
  CHECK(status().placed == 2);
  CHECK(status().health == Health::serving);
  CHECK(status().trouble.starts_with(
      "UFM made 1 port a full member of P_Key 0x0010 although limited was asked for "
      "(00:00:00:00:00:00:00:0a): "));
  CHECK(findings() == "widened 1");
  CHECK(counts().widened == 1);
  CHECK(faults() == "0a not_added");
  pass(minutes(5));
  CHECK(in_ufm() == Desire{{kBlue, {{kB, kLimited}, {kC, kFull}}}});
  CHECK(counts().widened > 3);
  CHECK(counts().widened < 12);
  api.widens = false;
  pass(minutes(5));
  check_converged();
  CHECK(status().trouble.empty());
}

TEST_CASE_FIXTURE(Bed, "a member that another user makes a full one is narrowed again") {
  reach({{kBlue, {{kA, kLimited}}}});
  admin(Operation::post, kBlue, {kA}, ib::Membership::full);
  pass(minutes(3));
  check_converged();
  CHECK(counts().widened == 1);
  CHECK(status().losses == 1);
}

TEST_CASE_FIXTURE(Bed, "if UFM does not change the values of a member, it is removed and added") {
  reach({{kBlue, {{kA, kFull}, {kB, kLimited}}}});
  api.keeps_values = true;
  want({{kBlue, {{kA, kLimited}, {kB, kFirst}}}});
  pass(minutes(1));
  CHECK(in_ufm() == desired());
  pass(minutes(1));
  check_converged();
}

TEST_CASE_FIXTURE(Bed,
                  "values that UFM does not show are not the desired ones, and are no reason "
                  "to remove a member") {
  api.hides_values = true;
  want({{kBlue, {{kA, kLimited}}}});
  pass(minutes(10));
  CHECK(in_ufm() == desired());
  CHECK(calls(Operation::remove_guids) == 0);
  CHECK(status().health == Health::serving);
  CHECK(fault_text() == "UFM does not show the membership and index 0 of the port in P_Key 0x0010");
  want({{kBlue, {{kA, kLimited}, {kB, kFull}}}});
  pass(minutes(5));
  CHECK(status().health == Health::stuck);
  CHECK(status().trouble ==
        "UFM accepts changes of partitions, and has shown none for minutes; see UFM's log");
  api.hides_values = false;
  pass(minutes(3));
  check_converged();
}

TEST_CASE_FIXTURE(Bed,
                  "a port that UFM accepts and does not show has a fault, and is tried again") {
  inject(FaultKind::ignore, {Operation::post}, 200, 4);
  want({{kBlue, {{kA, kFull}}}});
  run();
  CHECK(status().placed == 1);
  CHECK(faults() == "0a not_added");
  CHECK(fault_text() == "UFM has accepted the port, and does not show it in P_Key 0x0010");
  CHECK(counts().ignored == 1);
  pass(seconds(1));
  CHECK(counts().ignored == 2);
  pass(seconds(20));
  CHECK(in_ufm() == desired());
  CHECK(faults().empty());
  CHECK(counts().ignored == 4);
}

TEST_CASE_FIXTURE(Bed,
                  "a member that UFM does not remove keeps its port from being free, for the "
                  "time of effect, too") {
  reach({{kBlue, {{kA, kFull}, {kB, kFull}}}});
  inject(FaultKind::ignore, {Operation::remove_guids}, 200, 2);
  want({{kBlue, {{kB, kFull}}}});
  run();
  CHECK(status().placed == 2);
  CHECK(faults() == "0a not_removed");
  CHECK(fault_text() == "UFM has accepted to remove the port, and still shows it in P_Key 0x0010");
  pass(seconds(5));
  CHECK(in_ufm() == desired());
  CHECK(faults() == "0a not_removed");
  pass(seconds(54));
  CHECK(faults() == "0a not_removed");
  pass(seconds(5));
  CHECK(faults().empty());
}

TEST_CASE_FIXTURE(Bed, "if UFM ignores the changes of several ports for minutes, it is stuck") {
  inject(FaultKind::ignore, {Operation::post}, 200, 0);
  want({{kBlue, {{kA, kFull}, {kB, kFull}}}});
  pass(seconds(110));
  CHECK(status().health == Health::serving);
  pass(seconds(15));
  CHECK(status().health == Health::stuck);
  ufm.clear_faults();
  pass(minutes(3));
  check_converged();
}

TEST_CASE_FIXTURE(Bed,
                  "without an answer, calls come with pauses, and nothing counts as in place") {
  SUBCASE("UFM is gone") { api.down = true; }
  SUBCASE("only its standby answers") { api.standby = true; }
  want({{kBlue, {{kA, kFull}}}});
  run();
  CHECK(status().health == Health::starting);
  pass(seconds(5));
  CHECK(status().health == (api.down ? Health::gone : Health::not_master));
  CHECK(status().placed == 0);
  const size_t failed = counts().failed;
  pass(minutes(10));
  CHECK(counts().failed - failed < 20);
  api.down = api.standby = false;
  pass(minutes(3));
  check_converged();
}

TEST_CASE_FIXTURE(Bed, "a UFM that goes while it serves keeps what is in place") {
  reach({{kBlue, {{kA, kFull}}}});
  api.down = true;
  want({{kBlue, {}}});
  pass(minutes(5));
  CHECK(status().health == Health::gone);
  CHECK(status().placed == 1);
  api.down = false;
  pass(minutes(3));
  check_converged();
  CHECK(status().losses == 0);
}

TEST_CASE_FIXTURE(Bed, "without the right to change, the engine is refused until it has it") {
  inject(FaultKind::refuse, {Operation::post}, 403, 6);
  want({{kBlue, {{kA, kFull}}}});
  run();
  CHECK(status().health == Health::refused);
  CHECK(status().trouble.find("UFM refuses ibpod-sm's calls: 403: no; ") == 0);
  CHECK(faults().empty());
  CHECK(status().placed == 0);
  SUBCASE("it gets it") {}
  SUBCASE("there is nothing to be changed any more") {
    want({{kBlue, {}}});
    run();
    CHECK(status().health == Health::serving);
  }
  pass(minutes(5));
  check_converged();
}

TEST_CASE_FIXTURE(Bed, "a failover that loses the last writes is noticed and mended") {
  reach({{kBlue, {{kA, kFull}, {kB, kFull}}}});
  pass(minutes(2));
  SUBCASE("an addition") {
    reach({{kBlue, {{kA, kFull}, {kB, kFull}, {kC, kFull}}}});
    REQUIRE(ufm.lose_writes(1) == 1);
    CHECK(members(kBlue).size() == 2);
  }
  SUBCASE("a removal: the member is ours to remove again") {
    reach({{kBlue, {{kA, kFull}}}});
    REQUIRE(ufm.lose_writes(1) == 1);
    CHECK(members(kBlue).size() == 2);
  }
  SUBCASE("a change of membership, which UFM then shows wider") {
    reach({{kBlue, {{kA, kLimited}, {kB, kFull}}}});
    REQUIRE(ufm.lose_writes(1) == 1);
    CHECK(members(kBlue).at(kA) == kFull);
  }
  SUBCASE("the end of the partition") {
    reach({});
    REQUIRE(ufm.lose_writes(1) == 1);
    CHECK(members(kBlue).size() == 2);
  }
  CHECK(status().placed == version);
  uint64_t least = version;
  for (int n = 0; n < 70; ++n) {
    now += seconds(1);
    while (tick()) least = std::min(least, status().placed);
  }
  CHECK_MESSAGE(least == 0, "what was in place is not any more");
  CHECK(status().losses == 1);
  CHECK(in_ufm() == desired());
  CHECK(status().placed == version);
  CHECK(status().swept == 0);
  pass(minutes(2));
  check_converged();
}

TEST_CASE_FIXTURE(Bed, "after a call without answer all is read at once: it may be another UFM") {
  reach({{kRed, {{kA, kFull}}}});
  inject(FaultKind::hang, {Operation::post});
  want({{kBlue, {{kA, kFull}}}, {kRed, {{kA, kFull}}}});
  CHECK(tick());
  REQUIRE(ufm.lose_writes(1) == 1);
  CHECK(members(kRed).empty());
  pass(seconds(2));
  CHECK(in_ufm() == desired());
  CHECK(status().losses == 1);
}

TEST_CASE_FIXTURE(Bed, "another master answers, without a failed call: all is read from it") {
  api.found_generation = 1;
  reach({{kRed, {{kA, kFull}}}});
  Operation during = Operation::post;
  SUBCASE("in the place of a change") {}
  SUBCASE("to the reading of one partition") { during = Operation::read; }
  SUBCASE("to the reading of all") { during = Operation::list; }
  bool is_over = false;
  api.before = [&] {
    if (api.next != during || std::exchange(is_over, true)) return;
    REQUIRE(ufm.lose_writes(2) > 0);
    ++api.found_generation;
  };
  want({{kBlue, {{kA, kFull}}}, {kRed, {{kA, kFull}}}});
  api.after = [&] {
    if (is_over && api.next != Operation::list && reconciler->status(now).placed == version)
      CHECK(in_ufm() == desired());
  };
  pass(minutes(5));
  REQUIRE(is_over);
  CHECK(status().losses == 1);
  check_converged();
}

// No reading has shown that it was gone.
TEST_CASE_FIXTURE(Bed,
                  "a partition that another user makes again between two readings stays ours") {
  reach({{kBlue, {{kA, kFull}}}});
  admin(Operation::delete_partition, kBlue);
  admin(Operation::post, kBlue, {kForeign});
  pass(minutes(1));
  CHECK(members(kBlue) == Members{{kA, kFull}, {kForeign, kFull}});
  CHECK(status().losses == 1);
  CHECK(counts().foreign == 1);
  reach({});
  CHECK(members(kBlue) == Members{{kForeign, kFull}});
  check_innocent();
}

TEST_CASE_FIXTURE(Bed, "a late effect of a call without answer is undone if it is not desired") {
  reach({{kBlue, {{kA, kFull}}}});
  inject(FaultKind::hang, {Operation::post});
  want({{kBlue, {{kA, kFull}, {kB, kFull}}}});
  for (bool more = true; more && calls(Operation::post) < 2;) more = tick();
  want({{kBlue, {{kA, kFull}}}});
  run();
  CHECK(status().placed == version);
  // The call that hung is carried out now.
  fake_ufm::Call late{.caller = kAdmin, .operation = Operation::post, .pkey = kBlue, .guids = {kB}};
  REQUIRE(ufm.call(late).ok());
  pass(minutes(3));
  CHECK(in_ufm() == desired());
  CHECK(status().losses == 1);
}

}  // namespace
}  // namespace ibpod::sm::ufm::test
