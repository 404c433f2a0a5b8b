#include "tests/fabric/simulation.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <unistd.h>

namespace ibpod {
namespace {

// For each packet umad2sim 0.10 has 32 bytes less than it copies out: the end of the return path of
// a packet that has come back is whatever follows in memory, and AddressSanitizer reports it.
constexpr auto kSuppressions = "asan.supp";
constexpr auto kSuppressed = "interceptor_via_lib:libumad2sim.so\n";

Deadline start_deadline() { return Deadline::in(Duration(60000)); }

}  // namespace

std::string Simulation::library() {
  const std::string path = IBPOD_UMAD2SIM;
  return std::filesystem::exists(path) ? path : "";
}

Path Simulation::opensm() {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/opensm").c_str(), X_OK) == 0) return folder + "/opensm";
  return "opensm";
}

std::map<std::string, std::string> Simulation::environment(const std::string& host,
                                                           const std::string& socket) {
  // In one expression with the map g++ 12 warns of bounds that nothing exceeds.
  std::string options = "verify_asan_link_order=0:suppressions=";
  options += kSuppressions;
  return {{"IBSIM_SOCKNAME", socket},
          {"SIM_HOST", host},
          {"LD_PRELOAD", library()},
          // That library comes first, and wraps what AddressSanitizer wraps, too.
          {"ASAN_OPTIONS", options}};
}

Result<Simulation> Simulation::start(const std::string& network, const std::string& partitions) {
  auto folder = std::make_unique<TempFolder>();
  folder->write("network", network);
  folder->write("partitions.conf", partitions);
  folder->write(kSuppressions, kSuppressed);
  // An abstract socket: its name is all that two simulations could have in common.
  const std::string socket = "ibpod-" + std::to_string(::getpid());
  Background simulator = TRY(Background::start(
      {.words = {"ibsim", "-s", "-n", "-N", "20000", "-S", "4000", "-P", "300000", "network"},
       .folder = folder->path(),
       .environment = {{"IBSIM_SOCKNAME", socket}}}));
  TRY(simulator.says("simulator ready", start_deadline()));
  auto environment = Simulation::environment("h0", socket);
  environment["OSM_TMP_DIR"] = environment["OSM_CACHE_DIR"] = folder->path();
  Background manager = TRY(Background::start(
      {.words = {"opensm", "-P", "partitions.conf", "-f", "stdout", "-d2", "-s", "0", "-n", "64"},
       .folder = folder->path(),
       .environment = environment}));
  TRY(manager.says("SUBNET UP", start_deadline()));
  return Simulation(std::move(folder), socket, std::move(simulator), std::move(manager));
}

Simulation::Simulation(std::unique_ptr<TempFolder> folder, std::string socket, Background network,
                       Background manager)
    : folder_(std::move(folder)),
      socket_(std::move(socket)),
      network_(std::move(network)),
      manager_(std::move(manager)) {}

}  // namespace ibpod
