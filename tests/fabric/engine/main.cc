// Runs these tests as a program on host h7 of a simulated subnet that nobody manages: starts ibsim,
// then itself again in it.
#include "lib/base/folder_watch.h"
#include "tests/fabric/engine/subnet.h"
#include "tests/fabric/simulation.h"
#include "tests/support/run_tests.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ibpod {
namespace {

int fail(const Error& error) {
  std::printf("%s\n%s\n", error.text().c_str(), error.details().c_str());
  return EXIT_FAILURE;
}

// An OpenSM outlives whoever started it; what is left of a test that was broken off comes to us.
void end_orphans() {
  const Path children = "/proc/self/task/" + std::to_string(::getpid()) + "/children";
  const auto pids = read_file(children);
  std::istringstream words(pids ? *pids : std::string());
  for (pid_t pid = 0; words >> pid;) ::kill(pid, SIGKILL);
}

int begin_inside(const std::string& socket, const TempFolder& folder, int count, char** arguments) {
  Launch launch{.words = {std::filesystem::canonical("/proc/self/exe").string()},
                .folder = folder.path(),
                .environment = Simulation::environment("h7", socket),
                .output = Launch::Output::shown};
  launch.words.insert(launch.words.end(), arguments + 1, arguments + count);
  auto tests = Background::start(launch);
  return tests ? tests->finish() : fail(tests.error());
}

Status await_simulator(const Path& log) {
  const auto watch = TRY(FolderWatch::of_files({log}));
  const Deadline deadline = Deadline::in(std::chrono::seconds(60));
  while (true) {
    const auto said = read_file(log);
    if (said && said->find("simulator ready") != std::string::npos) return ok();
    if (deadline.passed())
      return Error(Code::unavailable, "ibsim is not ready").with_details(said ? *said : "");
    pollfd waited{watch.fd(), POLLIN, 0};
    ::poll(&waited, 1, static_cast<int>(deadline.left().count()));
    watch.drain();
  }
}

// With a console for the tests: what is written to `console`, it does, and answers in `ibsim.log`.
Result<Background> start_simulator(const Path& folder, const std::string& socket) {
  TRY(sys("mkfifo", [&] { return ::mkfifo((folder / "console").c_str(), 0600); }));
  Background simulator = TRY(
      Background::start({.words = {"sh", "-c", "exec ibsim -s network <>console >ibsim.log 2>&1"},
                         .folder = folder,
                         .environment = {{"IBSIM_SOCKNAME", socket}}}));
  TRY(await_simulator(folder / "ibsim.log"));
  return simulator;
}

int simulate(int count, char** arguments) {
  const TempFolder folder;
  folder.write("network", network());
  folder.write("asan.supp", "interceptor_via_lib:libumad2sim.so\n");
  const std::string socket = "ibpod-" + std::to_string(::getpid());
  const auto simulator = start_simulator(folder.path(), socket);
  if (!simulator) return fail(simulator.error());
  return begin_inside(socket, folder, count, arguments);
}

int run_in_subnet(int count, char** arguments) {
  if (Simulation::library().empty()) {
    std::printf("skipped: ibsim-utils is not installed\n");
    return kSkipped;
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const int code = simulate(count, arguments);
  end_orphans();
  return code;
}

}  // namespace
}  // namespace ibpod

int main(int count, char** arguments) {
  const bool in_subnet = std::getenv("SIM_HOST") != nullptr;
  return in_subnet ? ibpod::run_tests(count, arguments) : ibpod::run_in_subnet(count, arguments);
}
