// The fault loop: at every step of ADD or of DEL the step fails, or the plugin is killed just
// before or just after it (fault_trial.h).
//
//   fault_loop CONFIGURATION...    each a network's configuration, for a VF of its own
//
// Environment: PLUGIN, CNI_PATH, LEASES (IPAM's folder), DEVICE_INFO (a file that a configuration
// names, or empty), VERB (ADD or DEL), POINTS (how many, or "all"), SEED (which ones, and which are
// recovered by GC). Exit code 1: a point has failed, or one that should have been tried was not.
#include "tests/vm/fault_trial.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace ibpod::vm {
namespace {

// Waiting is looking again and again, so that the number of steps differs from run to run: the
// fewest of some runs count, and a step is missing only when it did not come in several.
constexpr int kCleanRuns = 3;
constexpr int kTries = 5;

using Scenarios = std::vector<Scenario>;

struct Choice {
  std::string verb;
  bool all = false;
  uint64_t points = 0;
  uint64_t seed = 0;
};

Result<Choice> read_choice() {
  Choice choice;
  choice.verb = variable("VERB");
  if (choice.verb != "ADD" && choice.verb != "DEL") return Error(Code::invalid, "VERB");
  const std::string points = variable("POINTS");
  choice.all = points == "all";
  choice.points = std::strtoull(points.c_str(), nullptr, 10);
  if (!choice.all && choice.points == 0) return Error(Code::invalid, "POINTS");
  choice.seed = std::strtoull(variable("SEED").c_str(), nullptr, 10);
  return choice;
}

Result<Scenarios> read_scenarios(int count, char** files) {
  Scenarios scenarios;
  for (int i = 0; i < count; ++i) {
    std::string configuration = TRY(read_file(files[i]));
    scenarios.push_back({Path(files[i]).stem().string(), std::move(configuration)});
  }
  return scenarios;
}

void say(const std::string& text) {
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

// Neighbours in a row are recovered in different ways, and a seed of the other parity changes them
// all over.
Recovery recovery_of(uint64_t place, const Choice& choice) {
  return (place + choice.seed) % 2 == 0 ? Recovery::by_del : Recovery::by_gc;
}

class TrialRun {
 public:
  TrialRun(Trials& trials, const Choice& choice)
      : trials_(trials),
        choice_(choice),
        random_(static_cast<std::mt19937::result_type>(choice.seed)) {}

  // `points`: this scenario's share of a sample.
  Status run(const Scenario& scenario, uint64_t points) {
    const uint64_t steps = TRY(fewest_steps(scenario));
    say(scenario.name + " " + choice_.verb + ": " + std::to_string(steps) + " steps");
    const size_t before = trials_.count().tried;
    TRY(choice_.all ? try_all(scenario, steps) : try_sample(scenario, steps, points));
    const size_t tried = trials_.count().tried - before;
    possible_ += choice_.all ? tried : steps * kFaults.size();
    return ok();
  }

  // How many points there are, tried or not.
  size_t possible() const { return possible_; }

 private:
  Result<uint64_t> fewest_steps(const Scenario& scenario) {
    uint64_t fewest = UINT64_MAX;
    const int runs = choice_.all ? kCleanRuns : 1;  // a sample draws again
    for (int i = 0; i < runs; ++i) {
      const uint64_t steps = TRY(trials_.steps(scenario, choice_.verb));
      fewest = std::min(fewest, steps);
    }
    return fewest;
  }

  // Each step until it does not come to one any more.
  Status try_all(const Scenario& scenario, uint64_t steps) {
    for (const Fault fault : kFaults) {
      uint64_t reached = 0;
      bool more = true;
      while (more && !trials_.give_up()) {
        more = TRY(try_step(scenario, fault, reached + 1, steps));
        if (more) ++reached;
      }
      say(scenario.name + " " + std::string(name(fault)) + ": " + std::to_string(reached) +
          " steps tried");
      if (reached < steps && !trials_.give_up())
        return Error(Code::internal, "it never came to step " + std::to_string(reached + 1));
    }
    return ok();
  }

  Result<bool> try_step(const Scenario& scenario, Fault fault, uint64_t number, uint64_t steps) {
    const Recovery recovery = recovery_of(number + static_cast<uint64_t>(fault), choice_);
    const int tries = number <= steps ? kTries : 1;
    for (int i = 0; i < tries; ++i) {
      const bool reached =
          TRY(trials_.attempt({&scenario, choice_.verb, {fault, number}, recovery}));
      if (reached) return true;
    }
    return false;
  }

  // A step of each stretch of the way, so that a sample sees all of it.
  Status try_sample(const Scenario& scenario, uint64_t steps, uint64_t points) {
    for (uint64_t i = 0; i < points && !trials_.give_up(); ++i) {
      const uint64_t first = steps * i / points + 1;
      const uint64_t last = std::max(first, steps * (i + 1) / points);
      const bool reached = TRY(try_stretch(scenario, i, first, last));
      if (!reached) {
        return Error(Code::internal, "it never came to a step from " + std::to_string(first) +
                                         " to " + std::to_string(last));
      }
    }
    return ok();
  }

  Result<bool> try_stretch(const Scenario& scenario, uint64_t place, uint64_t first,
                           uint64_t last) {
    const Fault fault = kFaults[place % kFaults.size()];
    for (int i = 0; i < kTries; ++i) {
      const uint64_t step = std::uniform_int_distribution<uint64_t>(first, last)(random_);
      const Point point{&scenario, choice_.verb, {fault, step}, recovery_of(place, choice_)};
      const bool reached = TRY(trials_.attempt(point));
      if (reached) return true;
    }
    return false;
  }

  Trials& trials_;
  const Choice& choice_;
  std::mt19937 random_;
  size_t possible_ = 0;
};

Status run_scenarios(TrialRun& course, const Scenarios& scenarios, uint64_t points) {
  const uint64_t count = scenarios.size();
  for (uint64_t i = 0; i < count; ++i)
    TRY(course.run(scenarios[i], points * (i + 1) / count - points * i / count));
  return ok();
}

void report(const Count& count, size_t possible, Duration took) {
  say(std::to_string(count.failed) + " failed; " +
      std::to_string(static_cast<size_t>(took.count()) / std::max<size_t>(1, count.tried)) +
      " ms a point");
  say("note: " + std::to_string(count.tried) + " of " + std::to_string(possible) +
      " points tried, " + std::to_string(count.by_del) + " recovered by DEL, " +
      std::to_string(count.by_gc) + " by GC");
}

Status judge(const Count& count, const Choice& choice) {
  if (count.failed > 0) return Error(Code::internal, "points have failed");
  if (count.tried == 0) return Error(Code::internal, "not one point was tried");
  if (choice.all || count.tried == choice.points) return ok();
  return Error(Code::internal, std::to_string(count.tried) + " points tried, not the " +
                                   std::to_string(choice.points) + " asked for");
}

Status run(int count, char** files) {
  using Clock = std::chrono::steady_clock;
  const Choice choice = TRY(read_choice());
  const Scenarios scenarios = TRY(read_scenarios(count, files));
  const Pod pod;
  const Plugin plugin(variable("PLUGIN"), pod);
  ObservedPaths paths;
  paths.files = {"/var/lib/ibpod", variable("LEASES")};
  TRY(pod.make());
  Trials trials(pod, plugin, paths, variable("DEVICE_INFO"));
  TRY(trials.begin());
  TrialRun course(trials, choice);
  const auto start = Clock::now();
  const Status ran = run_scenarios(course, scenarios, choice.points);
  report(trials.count(), course.possible(),
         std::chrono::duration_cast<Duration>(Clock::now() - start));
  TRY(pod.drop());
  return ran ? judge(trials.count(), choice) : ran;
}

}  // namespace
}  // namespace ibpod::vm

int main(int count, char** arguments) {
  if (count < 2) {
    std::fputs("usage: fault_loop CONFIGURATION...\n", stderr);
    return 2;
  }
  const ibpod::Status status = ibpod::vm::run(count - 1, arguments + 1);
  if (status) return 0;
  std::fprintf(stderr, "fault_loop: %s\n", status.error().text().c_str());
  return 1;
}
