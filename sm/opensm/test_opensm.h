// The engine with a test program instead of OpenSM (tests/support/fake_opensm.cc).
#pragma once

#include "sm/engine/test_engine.h"
#include "sm/opensm/opensm.h"
#include "tests/support/temp_folder.h"

#include <csignal>
#include <fstream>

#include <poll.h>

namespace ibpod::sm::opensm::test {

class OpenSmBed {
 public:
  OpenSmBed() {
    settings.folder = folder.path() / "sm";
    settings.launcher.launch.program = IBPOD_FAKE_OPENSM;
    REQUIRE(make_folders(paths().cache));
  }
  OpenSmBed(const OpenSmBed&) = delete;
  OpenSmBed& operator=(const OpenSmBed&) = delete;
  OpenSmBed(OpenSmBed&&) = delete;
  OpenSmBed& operator=(OpenSmBed&&) = delete;
  ~OpenSmBed() {
    engine.reset();
    if (const auto left = find()) end(*left, SIGTERM);
  }

  OpenSmPaths paths() const { return OpenSmPaths(settings.folder); }
  void start() {
    auto started = OpenSm::start(settings, bell.rung());
    if (!started) FAIL(started.error().text());
    engine = std::move(started).value();
  }
  // Waits until the first version is in force.
  void serve() {
    start();
    engine->apply(1, engine::test::with_tenant(1));
    until([](const engine::EngineStatus& now) {
      return now.swept == 1 && now.health == engine::Health::serving;
    });
  }
  engine::EngineStatus until(const std::function<bool(const engine::EngineStatus&)>& desired) {
    return bell.wait(*engine, desired);
  }
  engine::EngineStatus until_swept(uint64_t version) {
    return until([&](const engine::EngineStatus& now) { return now.swept == version; });
  }
  engine::EngineStatus until(engine::Health health) {
    return until([&](const engine::EngineStatus& now) { return now.health == health; });
  }

  // Sets how the program behaves from now on.
  void let(const char* behaviour) const { std::ofstream(paths().cache / behaviour); }
  void stop(const char* behaviour) const { std::filesystem::remove(paths().cache / behaviour); }
  // The number of its readings of partitions.conf, and whether all were good.
  size_t readings() const { return lines(" good") + lines(" bad"); }
  size_t bad_readings() const { return lines(" bad"); }

  std::optional<pid_t> find() const {
    return Processes("/proc").find_opensm(paths().conf, settings.launcher.launch.program).value();
  }
  pid_t pid() const { return find().value(); }
  static void end(pid_t pid, int signal) {
    const auto process = OpenSmProcess::adopt(pid);
    if (!process) return;
    ::kill(pid, signal);
    pollfd waited{process->fd(), POLLIN, 0};
    ::poll(&waited, 1, -1);
    process->reap();
  }
  std::string text() const { return read_file(paths().partitions).value(); }
  void replace(const std::string& text) const {
    std::ofstream(folder.path() / "edit") << text;
    std::filesystem::rename(folder.path() / "edit", paths().partitions);
  }

  TempFolder folder;
  OpenSmEngineSettings settings;
  engine::test::Bell bell;
  std::unique_ptr<OpenSm> engine;

 private:
  size_t lines(const std::string& ending) const {
    std::ifstream file(paths().cache / "readings");
    size_t count = 0;
    for (std::string line; std::getline(file, line);) count += line.ends_with(ending);
    return count;
  }
};

}  // namespace ibpod::sm::opensm::test
