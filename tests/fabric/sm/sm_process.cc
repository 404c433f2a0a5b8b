#include "tests/fabric/sm/sm_process.h"

#include "lib/base/folder_watch.h"
#include "lib/base/join.h"
#include "lib/rpc/unix_address.h"
#include "sm/opensm/opensm_process.h"
#include "tests/fabric/simulation.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ibpod {
namespace {

constexpr auto kHostOfSm = "h6";
constexpr auto kPKeys = R"([{"first": "0x0001", "last": "0x00ff"},
  {"first": "0x1000", "last": "0x10ff", "use": "explicit"}])";

// The address of the simulated subnet.
std::string simulator() {
  const char* const socket = std::getenv("IBSIM_SOCKNAME");
  return socket == nullptr ? "" : socket;
}

// OpenSM sees the simulated subnet where the machine's own would be.
std::string launcher(const Path& cache) {
  std::string text = "#!/bin/sh\nexec env -i";
  for (const auto& [name, value] : Simulation::environment("h0", simulator()))
    text += " " + name + "=" + value;
  return text + " OSM_TMP_DIR=" + cache.native() + " OSM_CACHE_DIR=" + cache.native() + " " +
         Simulation::opensm().native() + " \"$@\"\n";
}

std::string guids_of_nodes(unsigned hosts) {
  std::string text;
  for (unsigned host = 1; host <= hosts; ++host)
    add_item(text, ", ",
             "\"" + node_of(host) + R"(": {"guids": [")" + port_guid(host).text() + "\"]}");
  return text;
}

std::string end_of(const std::string& log) {
  constexpr size_t kMost = 8000;
  return log.size() <= kMost ? log : "... " + log.substr(log.size() - kMost);
}

// As a process exits, the thread of umad2sim (0.10) that receives may still run, and locks what the
// library's destructor has freed.
bool simulator_crashed_at_end(const std::string& log) {
  const size_t ended = log.find("\"msg\":\"ibpod-sm has ended\"");
  const size_t crash = log.find("AddressSanitizer:DEADLYSIGNAL", ended);
  const std::string frames =
      crash == log.npos ? "" : log.substr(crash, log.find("Register", crash) - crash);
  return frames.find("libumad2sim.so") != log.npos && frames.find("asan_thread_start") != log.npos;
}

}  // namespace

std::string node_of(unsigned host) { return "n" + std::to_string(host); }

// The part of the configuration for the engine.
std::string SmProcess::engine() const {
  if (!setup_.ufm.empty()) return R"("engine": "ufm", "ufm": {)" + setup_.ufm + "}";
  return R"("opensm": {"program": ")" + (folder_.path() / "opensm.sh").native() +
         R"(", "port": ")" + port_guid(0).text() +
         R"(", "maxWireSmps": 64, "sweepSeconds": 0, "qos": true, "allowBothPkeys": )" +
         (setup_.both ? "true" : "false") + (setup_.opensm.empty() ? "" : ", " + setup_.opensm) +
         "}";
}

void SmProcess::write_files() const {
  const Path state = state_folder();
  folder_.write("opensm.sh", launcher(folder_.path()));
  std::filesystem::permissions(folder_.path() / "opensm.sh", std::filesystem::perms::owner_all);
  folder_.write("sm.json", "{\"stateDir\": \"" + state.native() + "\", \"socket\": \"" +
                               (folder_.path() / "sm.sock").native() +
                               "\", \"metricsAddress\": \"unix:" +
                               (folder_.path() / "metrics.sock").native() + "\", " + engine() +
                               ", \"pkeys\": " + (setup_.pkeys.empty() ? kPKeys : setup_.pkeys) +
                               R"(,
    "look": {"device": "ibsim0", "window": 64, "scanSeconds": )" +
                               std::to_string(setup_.scan_seconds) + R"(},
    "nodes": {)" + guids_of_nodes(setup_.hosts) +
                               "}" + (setup_.more.empty() ? "" : ", " + setup_.more) + "}");
}

std::map<std::string, std::string> SmProcess::environment() const {
  auto all = Simulation::environment(kHostOfSm, simulator());
  for (const auto& [name, value] : setup_.environment) {
    std::string& there = all[name];
    there = name == "LD_PRELOAD" ? value + ":" + there : value;
  }
  return all;
}

void SmProcess::launch() {
  write_files();
  const Path program = std::filesystem::canonical("/proc/self/exe").parent_path() / "ibpod-sm";
  auto started = Background::start(
      {.words = {program.native(), "--config", (folder_.path() / "sm.json").native()},
       .folder = std::filesystem::current_path(),
       .environment = environment()});
  REQUIRE(started);
  process_.emplace(std::move(started).value());
}

bool SmProcess::serves() {
  const auto watch = FolderWatch::of_files({folder_.path() / "sm.sock"}).value();
  const auto process = sm::opensm::OpenSmProcess::adopt(pid()).value();
  const Deadline deadline = Deadline::in(Duration(60000));
  while (true) {
    watch.drain();
    if (client().health(Deadline::in(Duration(30000)))) return true;
    if (process.ended()) return false;
    if (deadline.passed()) {
      ::kill(pid(), SIGTERM);
      FAIL("it does not serve: " << process_->output());
    }
    std::array<pollfd, 2> waited{{{watch.fd(), POLLIN, 0}, {process.fd(), POLLIN, 0}}};
    ::poll(waited.data(), waited.size(), static_cast<int>(deadline.left().count()));
  }
}

void SmProcess::start() {
  launch();
  if (!serves()) FAIL(process_->output());
  until_healthy();
}

// Every check is a round trip to another process, which works meanwhile.
void SmProcess::until(const std::function<bool()>& so) {
  const Deadline deadline = Deadline::in(Duration(60000));
  while (!so())
    if (deadline.passed()) {
      ::kill(process_->pid(), SIGTERM);
      FAIL("it does not become so: " << process_->output());
    }
}

bool SmProcess::is_healthy() const {
  const auto health = client().health(Deadline::in(Duration(30000)));
  return health && health->engine().starts_with("serving");
}

void SmProcess::until_healthy() {
  until([this] { return is_healthy(); });
}

std::pair<std::string, int> SmProcess::reap() {
  std::string said = process_->output();
  const int code = process_->finish();
  process_.reset();
  return {std::move(said), code};
}

void SmProcess::kill() {
  ::kill(pid(), SIGKILL);
  reap();
}

std::string SmProcess::end() {
  ::kill(pid(), SIGTERM);
  auto [said, code] = reap();
  CHECK_MESSAGE((code == 0 || simulator_crashed_at_end(said)),
                "ibpod-sm has ended with " << code << ": " << end_of(said));
  return std::move(said);
}

fabric::Partition SmProcess::sample_partition(const std::string& name) {
  fabric::Partition partition;
  partition.name = name;
  partition.membership = fabric::Membership::full;
  partition.allowed = {"*"};
  return partition;
}

fabricapi::BindRequest SmProcess::request(unsigned host, const std::string& partition,
                                          const std::string& container) {
  fabricapi::BindRequest request;
  request.attachment = {node_of(host), container, "net1"};
  request.guid = port_guid(host);
  request.pf = "ib0";
  request.device = "0000:01:00.1";
  request.pod = {"team", "pod-" + container, "uid-" + container};
  request.partitions = {{partition, {}}};
  return request;
}

std::string SmProcess::page(const std::string& path) const {
  const auto connection = rpc::connect_socket(folder_.path() / "metrics.sock");
  REQUIRE(connection);
  const std::string asked = "GET " + path + " HTTP/1.0\r\n\r\n";
  REQUIRE(::send(connection->get(), asked.data(), asked.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(asked.size()));
  std::string page;
  std::array<char, 4096> room;
  pollfd said{connection->get(), POLLIN, 0};
  while (::poll(&said, 1, 20'000) == 1) {
    const ssize_t size = ::recv(connection->get(), room.data(), room.size(), 0);
    if (size <= 0) break;
    page.append(room.data(), static_cast<size_t>(size));
  }
  return page;
}

double SmProcess::metric(const std::string& beginning) const {
  std::istringstream lines(page("/metrics"));
  double sum = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(beginning)) sum += std::stod(line.substr(line.rfind(' ')));
  return sum;
}

std::optional<pid_t> SmProcess::opensm() const {
  return sm::opensm::Processes("/proc")
      .find_opensm(state_folder() / "opensm/opensm.conf", folder_.path() / "opensm.sh")
      .value();
}

void SmProcess::signal_opensm(int number) const {
  const auto pid = opensm();
  REQUIRE(pid);
  ::kill(*pid, number);
}

SmProcess::~SmProcess() {
  if (process_) end();
  const auto pid = opensm();
  if (!pid) return;
  const auto left = sm::opensm::OpenSmProcess::adopt(*pid);
  ::kill(*pid, SIGKILL);
  pollfd gone{left ? left->fd() : -1, POLLIN, 0};
  ::poll(&gone, 1, 10'000);
}

}  // namespace ibpod
