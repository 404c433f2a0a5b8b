// When OpenSM is started, restarted and ended. The processes are real; the time is an argument.
#include "sm/opensm/opensm_supervisor.h"

#include "sm/opensm/test_opensm.h"

#include <csignal>

#include <poll.h>

namespace ibpod::sm::opensm {
namespace {

using Change = OpensmSupervisor::Change;
using std::chrono::seconds;

struct Supervised {
  Supervised() { settings.launch.program = IBPOD_FAKE_OPENSM; }
  Supervised(const Supervised&) = delete;
  Supervised& operator=(const Supervised&) = delete;
  Supervised(Supervised&&) = delete;
  Supervised& operator=(Supervised&&) = delete;
  ~Supervised() {
    if (supervisor && supervisor->fd() >= 0) end();
  }

  void make() { supervisor.emplace(SupervisorSettings(), OpensmLauncher(settings, paths)); }
  Change tick(bool partitions_in_place = true) {
    return supervisor->tick(now, partitions_in_place);
  }
  // Kills the process, and waits for its end.
  void end() const {
    const std::string entry =
        read_file("/proc/self/fdinfo/" + std::to_string(supervisor->fd())).value();
    const pid_t pid = std::stoi(entry.substr(entry.find("Pid:") + 4));
    if (pid > 0) ::kill(pid, SIGKILL);
    wait();
  }
  void wait() const {
    pollfd waited{supervisor->fd(), POLLIN, 0};
    ::poll(&waited, 1, -1);
  }
  // Starts an OpenSM with these settings, as an earlier ibpod-sm has done.
  pid_t start_earlier(const LauncherSettings& earlier) const {
    OpensmLauncher launcher(earlier, paths);
    const pid_t pid = launcher.start().value().pid();
    // A program that has just been started is not recognized at once.
    while (!launcher.find().value()) continue;
    return pid;
  }

  TempFolder folder;
  OpenSmPaths paths{folder.path()};
  LauncherSettings settings;
  std::optional<OpensmSupervisor> supervisor;
  OpensmSupervisor::Time now{seconds(1000)};
};

TEST_CASE_FIXTURE(Supervised, "the pause before a restart doubles until a process has lasted") {
  make();
  CHECK(tick() == Change::started);
  CHECK_FALSE(supervisor->alarm());
  for (const int pause : {1, 2, 4, 8, 16, 30, 30}) {
    CAPTURE(pause);
    end();
    CHECK(tick() == Change::ended);
    REQUIRE(supervisor->fault());
    CHECK(supervisor->fault()->text().find("OpenSM has ended") != std::string::npos);
    CHECK(supervisor->hup().error().code() == Code::not_found);
    CHECK(supervisor->alarm() == now + seconds(pause));
    now += seconds(pause) - Duration(1);
    CHECK(tick() == Change::none);
    now += Duration(1);
    CHECK(tick() == Change::started);
    CHECK_FALSE(supervisor->fault());
  }
  now += seconds(10);
  end();
  CHECK(tick() == Change::ended);
  CHECK(tick() == Change::started);
  now += seconds(10) - Duration(1);
  end();
  CHECK(tick() == Change::ended);
  CHECK(supervisor->alarm() == now + seconds(1));
}

TEST_CASE_FIXTURE(Supervised, "OpenSM is started only if the partitions are in place") {
  make();
  CHECK(tick(false) == Change::none);
  CHECK(supervisor->fd() == -1);
  CHECK_MESSAGE(!supervisor->alarm(), "the file comes with an event");
  CHECK(tick(false) == Change::none);
  CHECK(tick(true) == Change::started);
  CHECK(tick(false) == Change::none);
  CHECK(supervisor->hup());
}

TEST_CASE_FIXTURE(Supervised, "an OpenSM of ours is found, or ended if it has other settings") {
  settings.opensm.max_wire_smps = 7;
  LauncherSettings earlier = settings;
  SUBCASE("the same settings") {
    start_earlier(earlier);
    make();
    CHECK(tick(false) == Change::found);
    CHECK(supervisor->hup());
    CHECK_FALSE(supervisor->alarm());
  }
  SUBCASE("other settings") {
    earlier.opensm.max_wire_smps = 9;
    start_earlier(earlier);
    make();
    CHECK(tick() == Change::none);
    REQUIRE(supervisor->fault());
    CHECK(supervisor->fault()->text().find("other settings") != std::string::npos);
    CHECK_FALSE(supervisor->other_file());
    CHECK_MESSAGE(!supervisor->hup(), "it is about to end");
    CHECK(supervisor->alarm() == now + seconds(10));
    wait();
    CHECK(tick() == Change::ended);
    CHECK(tick() == Change::started);
    CHECK_FALSE(supervisor->fault());
  }
}

TEST_CASE_FIXTURE(Supervised, "an OpenSM of another process is waited for, and never started") {
  const LauncherSettings theirs = settings;
  settings.external = ExternalOpensm{folder.path() / "pid", paths.log};
  make();
  CHECK(tick() == Change::none);
  CHECK(supervisor->fault()->code() == Code::not_found);
  CHECK(supervisor->alarm() == now + Duration(500));
  const pid_t pid = start_earlier(theirs);
  folder.write("pid", std::to_string(pid) + "\n");
  CHECK(tick() == Change::none);
  now += Duration(500);
  CHECK(tick() == Change::found);
  end();
  CHECK(tick() == Change::ended);
  CHECK(supervisor->alarm() == now);
  CHECK(tick() == Change::none);
  CHECK(supervisor->fd() == -1);
}

}  // namespace
}  // namespace ibpod::sm::opensm
