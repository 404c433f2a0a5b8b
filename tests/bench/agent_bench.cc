// The real ibpod-agent on a large node: 8 PFs with 127 VFs each, on a sysfs of ordinary files, with
// a modelled kubelet and no pods.
//
//   agent_bench PROGRAM
//
// Prints what was measured, and beside each goal whether it was met. Nothing is judged: a machine
// may be busy with something else. Only a step that fails is an error.
#include "agent/test_agent_fixture.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <vector>

#include <spawn.h>
#include <sys/wait.h>

namespace ibpod::agent {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kResource = "example.com/vfs";
constexpr unsigned kPfs = 8, kVfs = 127;
constexpr int kStarts = 5, kAllocations = 2000, kEvents = 50;
constexpr std::chrono::seconds kSettle{5}, kIdle{60};

[[noreturn]] void die(const std::string& text) {
  std::fprintf(stderr, "error: %s\n", text.c_str());
  std::exit(1);
}

double milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

const char* verdict(double value, double goal) { return value < goal ? "met" : "MISSED"; }

class Times {
 public:
  void add(Clock::duration duration) { all_.push_back(milliseconds(duration)); }
  double at(double part) {
    std::sort(all_.begin(), all_.end());
    return all_.at(static_cast<size_t>(part * static_cast<double>(all_.size() - 1)));
  }
  void print(const char* what) {
    std::printf("%-44s %.2f/%.2f/%.2f ms (min/median/max of %zu)\n", what, at(0), at(0.5), at(1),
                all_.size());
  }

 private:
  std::vector<double> all_;
};

// The agent as a process, for as long as this lives.
class Process {
 public:
  Process(const char* program, const AgentFixture& fixture) {
    std::string config = fixture.configuration().string();
    const std::string words[] = {program, "--config", config, "--node", "bench"};
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    if (::posix_spawn(&pid_, program, nullptr, nullptr, arguments.data(), environ) != 0)
      die(std::string(program) + " cannot be started");
  }
  ~Process() {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // A line of /proc/PID/status, in KiB.
  long memory(const std::string& name) const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with(name + ":")) return std::atol(line.c_str() + name.size() + 1);
    die("the agent is gone");
  }
  // The processor time of all its threads, in milliseconds.
  double processor() const {
    double sum = 0;
    const Path tasks = "/proc/" + std::to_string(pid_) + "/task";
    for (const auto& task : std::filesystem::directory_iterator(tasks)) {
      double nanoseconds = 0;
      std::ifstream(task.path() / "schedstat") >> nanoseconds;
      sum += nanoseconds / 1e6;
    }
    return sum;
  }

 private:
  pid_t pid_ = 0;
};

class Bench {
 public:
  explicit Bench(const char* program) : program_(program) {
    fixture_.tree.add_pfs(kPfs, kVfs);
    fixture_.tree.remove_netdevs();  // this kernel knows of none of them
    fixture_.configure(R"({"resourceName": "vfs", "isolation": false})");
  }

  void run() {
    Times discovery;
    for (int i = 1; i < kStarts; ++i) {
      start(discovery);
      process_.reset();
    }
    start(discovery);
    discovery.print("start of the process to the kubelet's list");
    measure_idle();
    measure_updates();
    measure_allocations();
    measure_memory();
  }

 private:
  void start(Times& times) {
    const int before = fixture_.kubelet.seen(kResource).registrations;
    const auto begin = Clock::now();
    process_.emplace(program_, fixture_);
    const bool seen = fixture_.kubelet.await(kResource, [&](const PluginSeen& now) {
      return now.registrations > before && now.devices.size() == size_t{kPfs} * kVfs;
    });
    if (!seen) die("the kubelet knows no devices");
    times.add(Clock::now() - begin);
  }

  void measure_allocations() {
    const std::vector<kube::Device> devices = fixture_.kubelet.seen(kResource).devices;
    Times times;
    for (size_t i = 0; i < kAllocations; ++i) {
      const auto begin = Clock::now();
      const auto granted = fixture_.kubelet.allocate(kResource, {devices[i % devices.size()].id});
      if (!granted) die("Allocate: " + granted.error().text());
      times.add(Clock::now() - begin);
    }
    times.print("Allocate, over its socket");
    std::printf("  p50 %.2f ms, p99 %.2f ms; goal: p99 < 2 ms, %s\n", times.at(0.5), times.at(0.99),
                verdict(times.at(0.99), 2));
  }

  // An event of the kernel's own, by way of its socket, which root may have it send.
  void measure_updates() {
    const ib::PciAddress vf = *ib::PciAddress::parse("0000:11:00.1");
    const ib::PciAddress pf = *ib::PciAddress::parse("0000:21:00.0");
    Times of_vf, of_pf;
    for (int i = 0; i < kEvents; ++i) {
      of_vf.add(update(vf, vf, i % 2 == 0));
      of_pf.add(update(pf, *ib::PciAddress::parse("0000:21:00.1"), i % 2 == 0));
    }
    of_vf.print("uevent of a VF to the kubelet's list");
    std::printf("  goal: < 50 ms, %s\n", verdict(of_vf.at(0.5), 50));
    of_pf.print("uevent of a PF, whose 127 VFs follow");
    std::printf("  goal: < 50 ms, %s\n", verdict(of_pf.at(0.5), 50));
  }

  Clock::duration update(const ib::PciAddress& function, const ib::PciAddress& shown, bool down) {
    fixture_.tree.set_port(function, "state", down ? "1: DOWN" : "4: ACTIVE");
    const auto begin = Clock::now();
    const Status announced = fixture_.announce(function);
    if (!announced) die(announced.error().text());
    const bool seen = fixture_.kubelet.await(kResource, [&](const PluginSeen& now) {
      return std::any_of(now.devices.begin(), now.devices.end(), [&](const kube::Device& device) {
        return device.id == shown.text() && device.healthy != down;
      });
    });
    if (!seen) die("the kubelet was not told of " + shown.text());
    return Clock::now() - begin;
  }

  // A minute has one look at what has no event. What a start leaves to be done is done before.
  void measure_idle() {
    std::this_thread::sleep_for(kSettle);
    const double before = process_->processor();
    const auto begin = Clock::now();
    std::this_thread::sleep_for(kIdle);
    const double ran = process_->processor() - before;
    const double part = 100 * ran / milliseconds(Clock::now() - begin);
    std::printf("%-44s %.1f ms of a processor in %ld s = %.3f %%\n", "idle", ran,
                static_cast<long>(kIdle.count()), part);
    std::printf("  goal: < 0.1 %%, %s\n", verdict(part, 0.1));
  }

  void measure_memory() {
    const double now = static_cast<double>(process_->memory("VmRSS")) / 1024;
    const double peak = static_cast<double>(process_->memory("VmHWM")) / 1024;
    std::printf("%-44s %.1f MiB, peak %.1f MiB\n", "resident memory", now, peak);
    std::printf("  goal: < 30 MiB, %s\n", verdict(peak, 30));
  }

  const char* program_;
  AgentFixture fixture_;
  std::optional<Process> process_;
};

}  // namespace
}  // namespace ibpod::agent

int main(int count, char** arguments) {
  if (count != 2) return 2;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  ibpod::agent::Bench(arguments[1]).run();
  return 0;
}
