#include "tests/fabric/inside.h"

#include "tests/fabric/simulation.h"
#include "tests/support/run_tests.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace ibpod {
namespace {

constexpr auto kManager = "IBPOD_TEST_OPENSM";  // its process

int skip(const char* why) {
  std::printf("skipped: %s\n", why);
  return kSkipped;
}

int fail(const Error& error) {
  std::printf("%s\n%s\n", error.text().c_str(), error.details().c_str());
  return EXIT_FAILURE;
}

int begin(const Inside& inside, int count, char** arguments) {
  if (Simulation::library().empty()) return skip("ibsim-utils is not installed");
  const auto simulation = Simulation::start(inside.network, inside.partitions);
  if (!simulation) return fail(simulation.error());
  Launch launch{.words = {std::filesystem::canonical("/proc/self/exe").string()},
                .folder = simulation->folder(),
                .environment = simulation->at(inside.host),
                .output = Launch::Output::shown};
  launch.environment[kManager] = std::to_string(simulation->manager());
  launch.words.insert(launch.words.end(), arguments + 1, arguments + count);
  auto tests = Background::start(launch);
  return tests ? tests->finish() : fail(tests.error());
}

}  // namespace

int test_inside(const Inside& inside, int count, char** arguments) {
  // If a test hangs its last line must not stay in a buffer.
  (void)std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  const bool there = std::getenv(kManager) != nullptr;
  return there ? run_tests(count, arguments) : begin(inside, count, arguments);
}

void hang_up_manager() { ::kill(std::atoi(std::getenv(kManager)), SIGHUP); }

void kill_manager() { ::kill(std::atoi(std::getenv(kManager)), SIGKILL); }

}  // namespace ibpod
