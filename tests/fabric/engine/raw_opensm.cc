#include "tests/fabric/engine/raw_opensm.h"

#include "lib/base/folder_watch.h"
#include "tests/fabric/simulation.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>
#include <poll.h>

namespace ibpod {
namespace {

constexpr auto kGood = "Default=0x7fff, indx0, ipoib : ALL=limited, SELF=full;\n";

}  // namespace

std::map<std::string, std::string> environment_of_opensm(unsigned host, const Path& cache) {
  auto environment =
      Simulation::environment("h" + std::to_string(host), std::getenv("IBSIM_SOCKNAME"));
  environment.erase("ASAN_OPTIONS");
  environment["OSM_TMP_DIR"] = environment["OSM_CACHE_DIR"] = cache;
  return environment;
}

void end_process(const sm::opensm::OpenSmProcess& process) {
  constexpr int kTimeout = 10'000;
  ::kill(process.pid(), SIGTERM);
  pollfd waited{process.fd(), POLLIN, 0};
  if (::poll(&waited, 1, kTimeout) == 0) ::kill(process.pid(), SIGKILL);
  ::poll(&waited, 1, -1);
  process.reap();
}

sm::opensm::OpenSmSettings RawOpenSm::with_both() {
  sm::opensm::OpenSmSettings settings;
  settings.allow_both_pkeys = true;
  return settings;
}

RawOpenSm::RawOpenSm(sm::opensm::OpenSmSettings settings) {
  settings.max_wire_smps = 64;
  settings.sweep_interval = 0;
  REQUIRE(make_folders(paths_.cache));
  REQUIRE(
      write_file_atomically(paths_.conf, sm::opensm::render_opensm_conf(settings, paths_).value()));
  REQUIRE(write_file_atomically(paths_.modules, sm::opensm::opensm_modules()));
  REQUIRE(write_file_atomically(paths_.partitions, kGood));
  start();
}

RawOpenSm::~RawOpenSm() { end_process(*process_); }

void RawOpenSm::start() {
  reader_.restart();
  auto started = sm::opensm::OpenSmProcess::start(
      {.program = Simulation::opensm(), .environment = environment_of_opensm(0, paths_.cache)},
      paths_.conf, paths_.cache);
  if (!started) FAIL(started.error().text());
  process_ = std::move(started).value();
  REQUIRE(finish_sweep());
}

std::optional<std::vector<sm::opensm::LogMark>> RawOpenSm::finish_sweep() {
  const Deadline deadline = Deadline::in(std::chrono::seconds(60));
  const auto watch = FolderWatch::of_files({paths_.log}).value();
  std::vector<sm::opensm::LogMark> marks;
  while (!deadline.passed()) {
    watch.drain();
    const bool ended = process_->ended();
    for (std::string bytes = log_.read().value(); !bytes.empty(); bytes = log_.read().value()) {
      const auto more = reader_.take(bytes);
      marks.insert(marks.end(), more.begin(), more.end());
    }
    if (std::find(marks.begin(), marks.end(), sm::opensm::LogMark::subnet_up) != marks.end())
      return marks;
    if (ended) return std::nullopt;
    std::array<pollfd, 2> waited{{{watch.fd(), POLLIN, 0}, {process_->fd(), POLLIN, 0}}};
    ::poll(waited.data(), waited.size(), static_cast<int>(deadline.left().count()));
  }
  FAIL("OpenSM does not sweep");
  return std::nullopt;
}

void RawOpenSm::ask_to_read(const std::optional<std::string>& text) {
  if (text) {
    folder_.write("next", *text);
    std::filesystem::rename(folder_.path() / "next", paths_.partitions);
  } else {
    std::filesystem::remove(paths_.partitions);
  }
  REQUIRE(process_->hup());
}

std::vector<sm::opensm::LogMark> RawOpenSm::read(const std::optional<std::string>& text) {
  ask_to_read(text);
  auto marks = finish_sweep();
  if (marks) return *marks;
  process_->reap();
  folder_.write("partitions.conf", kGood);
  start();
  return {};
}

bool threw_away(const std::vector<sm::opensm::LogMark>& marks) {
  return std::find(marks.begin(), marks.end(), sm::opensm::LogMark::default_config) != marks.end();
}

}  // namespace ibpod
