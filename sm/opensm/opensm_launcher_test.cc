#include "sm/opensm/opensm_launcher.h"

#include "sm/opensm/test_opensm.h"

namespace ibpod::sm::opensm {
namespace {

struct LauncherFixture {
  TempFolder folder;
  OpenSmPaths paths{folder.path()};
  LauncherSettings settings;
  std::vector<pid_t> started;

  LauncherFixture() { settings.launch.program = IBPOD_FAKE_OPENSM; }
  LauncherFixture(const LauncherFixture&) = delete;
  LauncherFixture& operator=(const LauncherFixture&) = delete;
  LauncherFixture(LauncherFixture&&) = delete;
  LauncherFixture& operator=(LauncherFixture&&) = delete;
  ~LauncherFixture() { end_all(); }

  OpensmLauncher launcher() const { return OpensmLauncher(settings, paths); }
  OpensmLauncher launcher(unsigned max_wire_smps) const {
    LauncherSettings other = settings;
    other.opensm.max_wire_smps = max_wire_smps;
    return OpensmLauncher(other, paths);
  }
  pid_t start(OpensmLauncher& launcher) {
    started.push_back(launcher.start().value().pid());
    return started.back();
  }
  void end_all() {
    for (const pid_t pid : std::exchange(started, {})) test::OpenSmBed::end(pid, SIGKILL);
  }
  Path key(unsigned mode) const {
    const Path file = folder.write("m_key", "0x1122334455667788\n");
    std::filesystem::permissions(file, static_cast<std::filesystem::perms>(mode));
    return file;
  }
};

TEST_CASE("opensm.conf has the settings of the OpenSM that was started last") {
  LauncherFixture fixture;
  OpensmLauncher seven = fixture.launcher(7), nine = fixture.launcher(9);
  CHECK_FALSE(seven.has_settings().value());
  fixture.start(seven);
  CHECK(seven.has_settings().value());
  CHECK_FALSE(nine.has_settings().value());
  CHECK(fixture.launcher(7).has_settings().value());  // as the next ibpod-sm
  fixture.end_all();
  fixture.start(nine);
  CHECK(nine.has_settings().value());
  CHECK_FALSE(seven.has_settings().value());
}

TEST_CASE("an OpenSM without the log lines that ibpod-sm needs has other settings") {
  LauncherFixture fixture;
  OpensmLauncher launcher = fixture.launcher();
  fixture.start(launcher);
  fixture.folder.write(fixture.paths.modules.filename(), "osm_state_mgr.c 0x03\n");
  CHECK_FALSE(launcher.has_settings().value());
}

TEST_CASE("settings that OpenSM would not accept leave opensm.conf as it is") {
  LauncherFixture fixture;
  OpensmLauncher launcher = fixture.launcher(7);
  fixture.start(launcher);
  const std::string before = read_file(fixture.paths.conf).value();
  OpensmLauncher wrong = fixture.launcher(0);
  CHECK(wrong.has_settings().error().code() == Code::invalid);
  CHECK(wrong.start().error().text().find("max_wire_smps") != std::string::npos);
  CHECK_FALSE(wrong.start_refused());
  CHECK(read_file(fixture.paths.conf).value() == before);
}

TEST_CASE("a key file that others can read leaves the settings unknown, until its mode is right") {
  LauncherFixture fixture;
  fixture.settings.opensm.keys.m_key = fixture.key(0600);
  OpensmLauncher launcher = fixture.launcher();
  fixture.start(launcher);
  fixture.key(0644);
  CHECK(launcher.has_settings().value());
  REQUIRE(launcher.start_refused());
  CHECK(launcher.start_refused()->text().find("mode 0644") != std::string::npos);
  SUBCASE("the mode is right again") {
    fixture.key(0600);
    CHECK(launcher.has_settings().value());
  }
  SUBCASE("the file is replaced: it is missing for a moment") {
    std::filesystem::remove(fixture.settings.opensm.keys.m_key);
    CHECK(launcher.has_settings().value());
    CHECK_MESSAGE(launcher.start_refused(), "it cannot be started now, either");
    fixture.key(0600);
    CHECK(launcher.has_settings().value());
  }
  SUBCASE("it has ended, and a new one is not started") {
    launcher.note_end();
    CHECK_FALSE(launcher.start_refused());
    CHECK(launcher.start().error().code() == Code::denied);
  }
  CHECK_FALSE(launcher.start_refused());
}

TEST_CASE("only root can read the folder in which OpenSM keeps M_Keys") {
  LauncherFixture fixture;
  std::filesystem::create_directories(fixture.paths.cache);
  std::filesystem::permissions(fixture.paths.cache, std::filesystem::perms(0755));
  OpensmLauncher launcher = fixture.launcher();
  fixture.start(launcher);
  CHECK(std::filesystem::status(fixture.paths.cache).permissions() ==
        std::filesystem::perms::owner_all);
}

TEST_CASE("an OpenSM of ours is found by its opensm.conf, and checked") {
  LauncherFixture fixture;
  OpensmLauncher launcher = fixture.launcher();
  CHECK_FALSE(launcher.is_external());
  CHECK_FALSE(launcher.find().value());
  const pid_t pid = fixture.start(launcher);
  std::optional<OpenSmProcess> found = launcher.find().value();
  // A program that has just been started is not recognized at once.
  while (!found) found = launcher.find().value();
  CHECK(found->pid() == pid);
  CHECK(launcher.check(*found));
  const TempFolder elsewhere;
  const OpensmLauncher others(fixture.settings, OpenSmPaths(elsewhere.path()));
  CHECK_FALSE(others.find().value());
  CHECK(others.check(*found).error().text().find("reads its partitions from") != std::string::npos);
}

TEST_CASE("an external OpenSM is named by its PID file, and has its own log") {
  LauncherFixture fixture;
  OpensmLauncher another = fixture.launcher();
  fixture.settings.external = ExternalOpensm{fixture.folder.path() / "pid", "/log"};
  const OpensmLauncher launcher = fixture.launcher();
  CHECK(launcher.is_external());
  CHECK(launcher.find().error().code() == Code::not_found);
  const pid_t pid = fixture.start(another);
  fixture.folder.write("pid", std::to_string(pid) + "\n");
  CHECK(launcher.find().value()->pid() == pid);
  fixture.end_all();
  CHECK(launcher.find().error().code() == Code::not_found);
}

}  // namespace
}  // namespace ibpod::sm::opensm
