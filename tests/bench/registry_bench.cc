// The cost of ibpod-sm's registry with 100,000 bindings in 1,000 partitions, on a real file.
//
//   registry_bench FOLDER
//
// CPU time, unless a line says otherwise. Prints what was measured, and beside each goal whether it
// was met. Nothing is judged: a machine may be busy with something else. Only a step that
// fails is an error.
#include "sm/bindings/registries.h"
#include "sm/state/sqlite_store.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>

#include <sys/wait.h>
#include <unistd.h>

namespace ibpod::sm {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kBindings = 100'000, kNodes = 1'000;
constexpr uint16_t kPartitions = 1'000;
constexpr int kMore = 1'000;
constexpr uint64_t kFirst = 0x0200'0000'0000'0001;
constexpr state::Now kNow{};
const fabricapi::Caller kAdministrator{fabricapi::Role::administrator, "", "bench"};

[[noreturn]] void die(const std::string& text) {
  std::fprintf(stderr, "error: %s\n", text.c_str());
  std::exit(1);
}

template <typename Value>
Value need(Result<Value> result) {
  if (!result) die(result.error().text());
  return std::move(*result);
}

// Milliseconds of this process's own, whatever else the machine does; waiting does not count.
double cpu_time() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

template <typename Body>
double timed(const Body& body) {
  const double begun = cpu_time();
  body();
  return cpu_time() - begun;
}

template <typename Body>
double waited(const Body& body) {
  const auto begun = Clock::now();
  body();
  return std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
}

void print(const char* what, double value, const char* unit, double goal) {
  std::printf("%s: %.3f %s; goal < %g, %s\n", what, value, unit, goal,
              value < goal ? "met" : "MISSED");
}

state::Policy policy() {
  state::Policy policy;
  policy.pkeys = need(pool::PKeyPool::make({{1, 0x7ffe, pool::RangeUse::automatic}}));
  return policy;
}

std::string partition_of(uint64_t number) { return "p" + std::to_string(number % kPartitions); }

// A VF in two partitions, as a container runtime and a kubelet name things.
fabricapi::BindRequest request(uint64_t number) {
  const std::string digits = std::to_string(1'000'000'000 + number);
  fabricapi::BindRequest request;
  request.attachment = {"worker-" + std::to_string(number % kNodes) + ".example.com",
                        digits + std::string(64 - digits.size(), 'c'), "net1"};
  request.guid = ib::Guid(kFirst + number);
  request.pf = "ib0";
  request.device = "0000:3b:00.1";
  request.pod = {"team-" + std::to_string(number % 100), "trainer-" + digits,
                 "01234567-89ab-cdef-0123-" + digits + "00"};
  request.partitions = {{partition_of(number), {}},
                        {partition_of(number * 7 + 1), fabric::Membership::full}};
  return request;
}

void fill(const Path& file) {
  const auto store = need(state::SqliteStore::open(file));
  const auto registry = need(bindings::Registries::load(*store, policy(), kNow));
  for (uint16_t i = 0; i < kPartitions; ++i) {
    fabric::Partition partition;
    partition.name = partition_of(i);
    partition.allowed = {"*"};
    need(registry->partitions.create(partition));
  }
  for (uint64_t i = 0; i < kBindings; ++i)
    need(registry->bindings.bind(kAdministrator, request(i), {}, kNow));
  need(registry->journal.commit(kNow).status);
}

double memory_mib(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field)) return std::strtod(line.c_str() + field.size(), nullptr) / 1024;
  die("no " + field);
}

void measure_binds(bindings::Registries& registry) {
  std::vector<double> binds, commits, lists;
  for (int i = 0; i < kMore; ++i) {
    const auto asked = request(kBindings + static_cast<uint64_t>(i));
    binds.push_back(timed([&] { need(registry.bindings.bind(kAdministrator, asked, {}, kNow)); }));
    commits.push_back(waited([&] { need(registry.journal.commit(kNow).status); }));
    lists.push_back(
        timed([&] { (void)registry.partitions.view().definitions(); }));  // which is kept for later
  }
  for (auto* const times : {&binds, &commits, &lists}) std::sort(times->begin(), times->end());
  print("one more Bind, median", binds[kMore / 2], "ms", 0.1);
  print("one more Bind, 99 of 100", binds[kMore * 99 / 100], "ms", 1);
  print("its commit, median, with the disk", commits[kMore / 2], "ms", 20);
  print("partitions() behind it, median", lists[kMore / 2], "ms", 10);
}

void measure(const Path& file) {
  const double before = memory_mib("VmRSS:");
  const auto store = need(state::SqliteStore::open(file));
  std::unique_ptr<bindings::Registries> registry;
  double cpu = 0;
  const double whole = waited([&] {
    cpu = timed([&] { registry = need(bindings::Registries::load(*store, policy(), kNow)); });
  });
  print("load, CPU time", cpu, "ms", 3000);
  print("load, with the disk and what else the machine does", whole, "ms", 3000);
  if (registry->journal.records().bindings.size() != kBindings) die("not all bindings are there");
  print("memory, peak of the load", memory_mib("VmHWM:") - before, "MiB", 250);
  print("memory, kept", memory_mib("VmRSS:") - before, "MiB", 250);
  print("partitions(), first time", timed([&] { (void)registry->partitions.view().definitions(); }),
        "ms", 1000);
  measure_binds(*registry);
  const auto verify = [&] {
    registry->bindings.note_written(registry->journal.version(), kNow);
    const std::set<ib::Guid> unsettled = registry->bindings.unsettled();
    for (const ib::Guid guid : unsettled)
      registry->bindings.note_verified(guid, registry->journal.version(), fabric::Proof::port, {},
                                       kNow);
    if (!registry->bindings.unsettled().empty()) die("not all bindings are verified");
  };
  print("all of them written and verified", timed(verify), "ms", 3000);
  print("changes for watchers", timed([&] { (void)registry->journal.take_changes(); }), "ms", 1000);
  const auto page = [&] {
    need(registry->bindings.list({"", "", "no such namespace", "", {}, {}}, {}));
  };
  print("a list in which nothing matches", timed(page), "ms", 100);
}

}  // namespace
}  // namespace ibpod::sm

int main(int argc, char** argv) {
  if (argc != 2) ibpod::sm::die("expected a folder");
  const ibpod::Path file = ibpod::Path(argv[1]) / "registry.db";
  // In a process of its own: its peak is not the one that counts.
  const pid_t filling = ::fork();
  if (filling == 0) {
    ibpod::sm::fill(file);
    std::_Exit(0);
  }
  int status = 0;
  ::waitpid(filling, &status, 0);
  if (status != 0) ibpod::sm::die("the store could not be filled");
  ibpod::sm::measure(file);
  return 0;
}
