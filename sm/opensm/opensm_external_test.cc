#include "sm/opensm/test_opensm.h"

namespace ibpod::sm::opensm {
namespace {

using engine::test::with_tenant;
using test::OpenSmBed;

// An OpenSM that another process starts, stops and configures.
struct Theirs {
  OpenSmBed bed;
  Path folder = bed.folder.path() / "theirs";
  ExternalOpensm others{folder / "pid", folder / "log"};
  std::optional<OpenSmProcess> process;

  Theirs() {
    std::filesystem::create_directories(folder / "cache");
    bed.settings.launcher.external = others;
    bed.settings.launcher.launch.program = "/nowhere/opensm";  // no OpenSM of ours is started
  }
  Theirs(const Theirs&) = delete;
  Theirs& operator=(const Theirs&) = delete;
  Theirs(Theirs&&) = delete;
  Theirs& operator=(Theirs&&) = delete;
  ~Theirs() { stop(); }

  void run(const Path& partitions, const std::string& more = "") {
    bed.folder.write("theirs/conf",
                     "partition_config_file " + partitions.string() +
                         "\nallow_both_pkeys FALSE\nforce_log_flush TRUE\nlog_file " +
                         others.log.string() + "\nper_module_logging_file " +
                         (folder / "modules").string() + "\n" + more);
    bed.folder.write("theirs/modules", opensm_modules());
    process =
        OpenSmProcess::start({IBPOD_FAKE_OPENSM, {}}, folder / "conf", folder / "cache").value();
    bed.folder.write("theirs/pid", std::to_string(process->pid()) + "\n");
  }
  // A program that has just been started is not recognized at once.
  engine::EngineStatus until_not_believed(const std::string& why) {
    return bed.until([&](const engine::EngineStatus& now) {
      return now.health == engine::Health::other_file && now.trouble.find(why) != std::string::npos;
    });
  }
  void stop() {
    if (process) OpenSmBed::end(process->pid(), SIGTERM);
    process.reset();
  }
};

TEST_CASE("another's OpenSM is found by its pid file, and lost with it") {
  Theirs theirs;
  theirs.bed.start();
  theirs.bed.engine->apply(1, engine::test::with_tenant(1));
  const engine::EngineStatus now =
      theirs.bed.until([](const engine::EngineStatus& is) { return is.placed == 1; });
  CHECK(now.health == engine::Health::gone);
  CHECK(now.trouble.find(theirs.others.pid_file.string()) != std::string::npos);
  theirs.run(theirs.bed.paths().partitions);
  CHECK(theirs.bed.until_swept(1).starts == 1);
  theirs.bed.until(engine::Health::serving);
  theirs.stop();
  theirs.bed.until(engine::Health::gone);
  theirs.bed.engine->apply(2, engine::test::with_tenant(2));
  theirs.run(theirs.bed.paths().partitions);
  CHECK(theirs.bed.until_swept(2).starts == 2);
}

TEST_CASE("another's OpenSM on another file is not believed, until it runs on ours") {
  Theirs theirs;
  theirs.run("/etc/opensm/partitions.conf");
  theirs.bed.start();
  theirs.bed.engine->apply(1, engine::test::with_tenant(1));
  CHECK(theirs.until_not_believed("/etc/opensm/partitions.conf").starts == 0);
  theirs.stop();
  theirs.run(theirs.bed.paths().partitions);
  theirs.bed.until_swept(1);
  theirs.bed.until(engine::Health::serving);
}

TEST_CASE("another's OpenSM that does not tell of its sweeps at once is not believed") {
  Theirs theirs;
  theirs.run(theirs.bed.paths().partitions, "force_log_flush FALSE\n");
  theirs.bed.start();
  theirs.bed.engine->apply(1, engine::test::with_tenant(1));
  CHECK(theirs.until_not_believed("force_log_flush TRUE").hups == 0);
}

}  // namespace
}  // namespace ibpod::sm::opensm
