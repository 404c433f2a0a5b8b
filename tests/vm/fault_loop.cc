// The fault loop: at every step of ADD and of DEL the step fails, or the plugin is killed just
// before or just behind it. Afterwards a DEL, or the pod's end and a GC without any DEL, must leave
// the node as it was before (snapshot.h).
//
//   fault_loop CONFIGURATION...    each a network's configuration, for a VF of its own
//
// Environment: PLUGIN, CNI_PATH, LEASES (IPAM's folder), VERBS ("ADD DEL" or one of them), POINTS
// (how many, or "all"), SEED (which ones). Exit code 1: a point has failed.
#include "lib/base/clock.h"
#include "lib/base/fd.h"
#include "lib/base/files.h"
#include "tests/vm/snapshot.h"
#include "tests/vm/tracer.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ibpod::vm {
namespace {

// What the kernel still does by itself when a verb has returned: it takes namespaces down later.
constexpr Duration kSettling{5000};
constexpr Duration kLookAgain{50};
constexpr size_t kTooMany = 12;
constexpr std::array<Fault, 3> kFaults{Fault::fail, Fault::kill, Fault::kill_after};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// --- the pod's namespace
// --------------------------------------------------------------------------

class Pod {
 public:
  const Path& path() const { return path_; }

  // Held by a bind mount, as a container runtime does it.
  Status make() const {
    std::filesystem::create_directories(path_.parent_path());
    std::ofstream{path_};
    Status made = ok();
    std::thread([&] { made = mount(); }).join();
    return made;
  }

  Status drop() const {
    TRY(sys("umount2", [&] { return ::umount2(path_.c_str(), MNT_DETACH); }));
    return remove_file(path_);
  }

 private:
  Status mount() const {
    TRY(sys("unshare", [] { return ::unshare(CLONE_NEWNET); }));
    TRY(sys("mount", [&] {
      return ::mount("/proc/thread-self/ns/net", path_.c_str(), "", MS_BIND, nullptr);
    }));
    return ok();
  }
  Path path_{"/run/netns/faults"};
};

// --- calling the plugin
// ---------------------------------------------------------------------------

struct Answer {
  Traced traced;
  std::string output;
  std::string errors;
  bool done() const { return traced.exit_code == 0; }
};

// A file without a name, in memory.
Result<Fd> memory_file(const std::string& content) {
  Fd fd(TRY(sys("memfd_create", [] { return ::memfd_create("faults", MFD_CLOEXEC); })));
  TRY(sys("pwrite", [&] { return ::pwrite(fd.get(), content.data(), content.size(), 0); }));
  return fd;
}

std::string content_of(const Fd& fd) {
  std::string content(1 << 16, '\0');
  const ssize_t count = ::pread(fd.get(), content.data(), content.size(), 0);
  content.resize(count < 0 ? 0 : static_cast<size_t>(count));
  return content;
}

// Runs `become` in a child without looking at its steps.
Result<Traced> run_free(const std::function<void()>& become) {
  const pid_t process = TRY(sys("fork", [] { return ::fork(); }));
  if (process == 0) {
    become();
    ::_exit(127);
  }
  int status = 0;
  TRY(sys("waitpid", [&] { return ::waitpid(process, &status, 0); }));
  Traced traced;
  traced.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return traced;
}

enum class Watched { no, yes };

class Plugin {
 public:
  Plugin(std::string program, const Pod& pod) : program_(std::move(program)) {
    environment_ = {"CNI_CONTAINERID=faults",
                    "CNI_IFNAME=net1",
                    "CNI_NETNS=" + pod.path().string(),
                    "CNI_PATH=" + variable("CNI_PATH"),
                    "PATH=" + variable("PATH"),
                    "CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=faults"};
  }

  Result<Answer> call(const std::string& verb, const std::string& configuration, Watched watched,
                      const std::optional<Injection>& injection = {}) const {
    const Fd in = TRY(memory_file(configuration));
    const Fd out = TRY(memory_file(""));
    const Fd err = TRY(memory_file(""));
    const auto become = [&] {
      ::dup2(in.get(), 0);
      ::dup2(out.get(), 1);
      ::dup2(err.get(), 2);
      execute(verb);
    };
    Answer answer;
    answer.traced = TRY(watched == Watched::yes ? trace(become, injection) : run_free(become));
    answer.output = content_of(out);
    answer.errors = content_of(err);
    return answer;
  }

 private:
  void execute(const std::string& verb) const {
    std::vector<std::string> lines = environment_;
    lines.push_back("CNI_COMMAND=" + verb);
    std::vector<char*> environment;
    for (std::string& line : lines) environment.push_back(line.data());
    environment.push_back(nullptr);
    std::string program = program_;
    char* const arguments[] = {program.data(), nullptr};
    ::execve(program.c_str(), arguments, environment.data());
  }

  std::string program_;
  std::vector<std::string> environment_;
};

// --- the loop
// -------------------------------------------------------------------------------------

struct Scenario {
  std::string name;
  std::string configuration;
};

struct Point {
  const Scenario* scenario = nullptr;
  std::string verb;  // ADD or DEL
  Injection injection;
  bool by_gc = false;  // else by DEL
};

// What happened at a point, for whoever has to mend it.
struct Story {
  std::string text;
  void tell(const std::string& what, const Answer& answer) {
    text += "--- " + what + ": exit " + std::to_string(answer.traced.exit_code);
    if (!answer.traced.hit.empty()) text += ", hit " + answer.traced.hit;
    text += "\n" + answer.output + answer.errors;
  }
};

struct Count {
  size_t tried = 0, by_del = 0, by_gc = 0, failed = 0;
  std::array<size_t, kFaults.size()> of_fault{};
};

class Loop {
 public:
  Loop(const Pod& pod, const Plugin& plugin, Places places)
      : pod_(pod), plugin_(plugin), places_(std::move(places)) {}

  Status begin() {
    before_ = TRY(snapshot(places_));
    return ok();
  }

  // How many steps the verb has when nothing fails.
  Result<uint64_t> steps(const Scenario& scenario, const std::string& verb) {
    const bool add = verb == "ADD";
    const Answer added =
        TRY(plugin_.call("ADD", scenario.configuration, add ? Watched::yes : Watched::no));
    const Answer deleted =
        TRY(plugin_.call("DEL", scenario.configuration, add ? Watched::no : Watched::yes));
    const std::string left = what_is_left();
    if (added.done() && deleted.done() && left.empty())
      return add ? added.traced.calls : deleted.traced.calls;
    Story story;
    story.tell("ADD", added);
    story.tell("DEL", deleted);
    return Error(Code::internal, "without any fault: " + story.text + left);
  }

  // False where it did not come to the step.
  Result<bool> attempt(const Point& point) {
    Story story;
    Answer faulted;
    std::string wrong = TRY(inject(point, faulted, story));
    const std::string unrecovered = TRY(recover(point, story));
    if (wrong.empty()) wrong = unrecovered;
    if (faulted.traced.hit.empty() && wrong.empty()) return false;
    note(point, wrong, story);
    if (!wrong.empty()) TRY(tidy_up(point));
    return true;
  }

  const Count& count() const { return count_; }
  bool hopeless() const { return count_.failed >= kTooMany; }

 private:
  // Answers what is wrong already.
  Result<std::string> inject(const Point& point, Answer& faulted, Story& story) {
    const std::string& configuration = point.scenario->configuration;
    if (point.verb == "DEL") {
      const Answer added = TRY(plugin_.call("ADD", configuration, Watched::no));
      story.tell("ADD", added);
      if (!added.done()) return std::string("the ADD before it failed");
    }
    faulted = TRY(plugin_.call(point.verb, configuration, Watched::yes, point.injection));
    story.tell(point.verb + " with a fault", faulted);
    const bool refused =
        point.verb == "ADD" && point.injection.fault == Fault::fail && !faulted.done();
    if (!refused || faulted.output.find("could not be undone") != std::string::npos)
      return std::string();
    const std::string left = what_is_left();
    return left.empty() ? left : "the rollback left something behind:\n" + left;
  }

  Result<std::string> recover(const Point& point, Story& story) {
    const std::string verb = point.by_gc ? "GC" : "DEL";
    if (point.by_gc) TRY(pod_.drop());
    bool done = false;
    for (int i = 0; i < 2 && !done; ++i) {
      const Answer answer = TRY(plugin_.call(verb, point.scenario->configuration, Watched::no));
      story.tell(verb, answer);
      done = answer.done();
    }
    if (point.by_gc) TRY(pod_.make());
    const std::string left = what_is_left();
    if (!left.empty()) return "after " + verb + " the node is not as it was:\n" + left;
    return done ? left : verb + " failed twice";
  }

  std::string what_is_left() {
    const Deadline deadline = Deadline::in(kSettling);
    while (true) {
      const auto now = snapshot(places_);
      const std::string left = now ? difference(before_, *now) : now.error().text();
      if (left.empty() || deadline.passed()) return left;
      ::poll(nullptr, 0, static_cast<int>(kLookAgain.count()));
    }
  }

  void note(const Point& point, const std::string& wrong, const Story& story) {
    ++count_.tried;
    ++(point.by_gc ? count_.by_gc : count_.by_del);
    ++count_.of_fault[static_cast<size_t>(point.injection.fault)];
    if (wrong.empty()) return;
    ++count_.failed;
    std::printf("FAIL: %s %s, %s at step %llu, recovered by %s: %s%s", point.scenario->name.c_str(),
                point.verb.c_str(), std::string(name(point.injection.fault)).c_str(),
                static_cast<unsigned long long>(point.injection.number), point.by_gc ? "GC" : "DEL",
                wrong.c_str(), (wrong.ends_with('\n') ? "" : "\n"));
    std::printf("%s\n", story.text.c_str());
    std::fflush(stdout);
  }

  // So that the next point starts clean; what cannot be cleaned is not blamed on it.
  Status tidy_up(const Point& point) {
    TRY(plugin_.call("DEL", point.scenario->configuration, Watched::no));
    TRY(pod_.drop());
    TRY(plugin_.call("GC", point.scenario->configuration, Watched::no));
    TRY(pod_.make());
    if (what_is_left().empty()) return ok();
    std::printf("... and neither DEL nor GC clean it up\n");
    return begin();
  }

  const Pod& pod_;
  const Plugin& plugin_;
  Places places_;
  std::vector<std::string> before_;
  Count count_;
};

// --- which points
// ---------------------------------------------------------------------------------

using Scenarios = std::vector<Scenario>;

Result<Scenarios> read_scenarios(int count, char** files) {
  Scenarios scenarios;
  for (int i = 0; i < count; ++i) {
    std::string configuration = TRY(read_file(files[i]));
    scenarios.push_back({Path(files[i]).stem().string(), std::move(configuration)});
  }
  return scenarios;
}

std::vector<std::string> chosen_verbs() {
  const std::string verbs = variable("VERBS");
  if (verbs == "ADD" || verbs == "DEL") return {verbs};
  return {"ADD", "DEL"};
}

// Each step until it does not come to one any more.
Status try_all(Loop& loop, const Scenario& scenario, const std::string& verb) {
  for (const Fault fault : kFaults) {
    bool reached = true;
    for (uint64_t number = 1; reached && !loop.hopeless(); ++number) {
      // Every second step by GC, and the others with the next fault.
      const bool by_gc = (number + static_cast<uint64_t>(fault)) % 2 == 0;
      reached = TRY(loop.attempt({&scenario, verb, {fault, number}, by_gc}));
    }
    std::printf("%s %s %s: %zu points so far\n", scenario.name.c_str(), verb.c_str(),
                std::string(name(fault)).c_str(), loop.count().tried);
    std::fflush(stdout);
  }
  return ok();
}

// A step of each stretch of the way, so that a sample sees all of it.
Status try_sample(Loop& loop, const Scenario& scenario, const std::string& verb, uint64_t steps,
                  uint64_t points, std::mt19937& random) {
  for (uint64_t i = 0; i < points && !loop.hopeless(); ++i) {
    const uint64_t first = steps * i / points + 1;
    const uint64_t last = std::max(first, steps * (i + 1) / points);
    const uint64_t step = std::uniform_int_distribution<uint64_t>(first, last)(random);
    const Fault fault = kFaults[i % kFaults.size()];
    const bool by_gc = (i / kFaults.size()) % 2 == 1;
    TRY(loop.attempt({&scenario, verb, {fault, step}, by_gc}));
  }
  return ok();
}

Status try_points(Loop& loop, const Scenarios& scenarios) {
  const std::string points = variable("POINTS");
  std::mt19937 random(static_cast<unsigned>(std::atoi(variable("SEED").c_str())));
  const std::vector<std::string> verbs = chosen_verbs();
  const uint64_t share =
      static_cast<uint64_t>(std::atoi(points.c_str())) / (scenarios.size() * verbs.size());
  for (const Scenario& scenario : scenarios) {
    for (const std::string& verb : verbs) {
      const uint64_t steps = TRY(loop.steps(scenario, verb));
      std::printf("%s %s: %llu steps\n", scenario.name.c_str(), verb.c_str(),
                  static_cast<unsigned long long>(steps));
      std::fflush(stdout);
      TRY(points == "all" ? try_all(loop, scenario, verb)
                          : try_sample(loop, scenario, verb, steps, share, random));
    }
  }
  return ok();
}

void report(const Count& count, Duration took) {
  std::printf(
      "%zu points tried (%zu fail, %zu kill, %zu kill-after; recovered by DEL %zu, by GC %zu), "
      "%zu failed; %lld ms a point\n",
      count.tried, count.of_fault[0], count.of_fault[1], count.of_fault[2], count.by_del,
      count.by_gc, count.failed,
      static_cast<long long>(took.count()) /
          static_cast<long long>(std::max<size_t>(1, count.tried)));
}

Status run(int count, char** files) {
  const Scenarios scenarios = TRY(read_scenarios(count, files));
  const Pod pod;
  const Plugin plugin(variable("PLUGIN"), pod);
  Places places;
  places.files = {"/var/lib/ibpod", variable("LEASES")};
  TRY(pod.make());
  Loop loop(pod, plugin, places);
  TRY(loop.begin());
  const auto start = std::chrono::steady_clock::now();
  const Status tried = try_points(loop, scenarios);
  report(loop.count(),
         std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - start));
  TRY(pod.drop());
  if (tried && loop.count().failed > 0) return Error(Code::internal, "points have failed");
  return tried;
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
