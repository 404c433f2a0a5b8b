#include "agent/config/reloader.h"

#include "tests/support/temp_folder.h"

#include <thread>

#include <doctest/doctest.h>

namespace ibpod::agent::config {
namespace {

using Kind = Reload::Kind;

const std::string kGood = R"({"sweepSeconds": 10})";
const std::string kOther = R"({"sweepSeconds": 20, "cdi": true})";

struct Fixture {
  TempFolder folder;
  Path file = folder.write("agent.json", kGood);
  Reloader reloader = Reloader::start(file, "n1").value();

  Kind write(const std::string& text) {
    folder.write("agent.json", text);
    return wait().kind;
  }
  Reload wait() { return reloader.wait(Deadline::in(Duration(10'000))).value(); }
  Duration interval() const { return reloader.config().sweep_interval; }
};

TEST_CASE("there is no start without a good configuration, and all that is wrong is told") {
  const TempFolder folder;
  CHECK(Reloader::start(folder.path() / "none", "n1").error().code() == Code::not_found);
  const Path file = folder.write("agent.json", R"({"cdi": 1, "kubelet": 2})");
  const auto started = Reloader::start(file, "n1");
  REQUIRE_FALSE(started);
  CHECK(started.error().text() == file.string() +
                                      ": cdi: expected true or false, got the number 1; kubelet: "
                                      "expected true or false, got the number 2");
}

TEST_CASE("a rewritten file is taken, with the names of the changed keys") {
  Fixture fixture;
  CHECK(fixture.reloader.poll().kind == Kind::unchanged);
  fixture.folder.write("agent.json", kOther);
  const Reload reload = fixture.wait();
  CHECK(reload.kind == Kind::taken);
  CHECK(reload.changed == std::vector<std::string>{"sweepSeconds"});
  CHECK(fixture.interval() == Duration(20'000));
}

TEST_CASE("a file that is replaced is taken, one that is the same is not looked at twice") {
  Fixture fixture;
  std::filesystem::rename(fixture.folder.write("new", kOther), fixture.file);
  CHECK(fixture.wait().kind == Kind::taken);
  std::filesystem::rename(fixture.folder.write("new", kOther), fixture.file);
  CHECK(fixture.reloader.poll().kind == Kind::unchanged);
  CHECK(fixture.reloader.wait(Deadline::in(Duration(0))).value().kind == Kind::unchanged);
}

TEST_CASE("whatever becomes of the file, the last good configuration serves on") {
  Fixture fixture;
  for (const std::string& bad :
       {std::string(), std::string("{"), std::string(R"({"sweepSeconds": 1})"),
        std::string("{\"cdi\": true, \"x\": 1}"), std::string(5 << 20, ' ')}) {
    CAPTURE(bad.substr(0, 30));
    CHECK(fixture.write(bad) == Kind::refused);
    CHECK(fixture.reloader.poll().kind == Kind::unchanged);
    CHECK(fixture.interval() == Duration(10'000));
  }
  std::filesystem::remove(fixture.file);
  const Reload gone = fixture.wait();
  CHECK(gone.kind == Kind::refused);
  CHECK(gone.reasons ==
        std::vector<std::string>{"open " + fixture.file.string() + ": No such file or directory"});
  CHECK(fixture.write(kOther) == Kind::taken);
}

TEST_CASE("a bad file that becomes the old good one again is taken, with nothing changed") {
  Fixture fixture;
  CHECK(fixture.write("{") == Kind::refused);
  fixture.folder.write("agent.json", kGood);
  const Reload reload = fixture.wait();
  CHECK(reload.kind == Kind::taken);
  CHECK(reload.changed.empty());
}

TEST_CASE("a ConfigMap's link that is exchanged is a change") {
  const TempFolder folder;
  const auto version = [&](const std::string& name, const std::string& text) {
    std::filesystem::create_directory(folder.path() / name);
    folder.write(name + "/agent.json", text);
    std::filesystem::create_directory_symlink(name, folder.path() / "..data_tmp");
    std::filesystem::rename(folder.path() / "..data_tmp", folder.path() / "..data");
  };
  version("..1", kGood);
  const Path file = folder.path() / "agent.json";
  std::filesystem::create_symlink("..data/agent.json", file);
  Reloader reloader = Reloader::start(file, "n1").value();
  version("..2", kOther);
  CHECK(reloader.wait(Deadline::in(Duration(10'000))).value().kind == Kind::taken);
  CHECK(reloader.config().sweep_interval == Duration(20'000));
}

TEST_CASE("a change that comes during a wait ends the wait") {
  Fixture fixture;
  std::jthread writer(
      [&] { std::filesystem::rename(fixture.folder.write("new", kOther), fixture.file); });
  CHECK(fixture.wait().kind == Kind::taken);
}

TEST_CASE("a folder that goes and comes again is followed") {
  const TempFolder above;
  const Path folder = above.path() / "etc";
  std::filesystem::create_directory(folder);
  above.write("etc/agent.json", kGood);
  Reloader reloader = Reloader::start(folder / "agent.json", "n1").value();
  std::filesystem::remove_all(folder);
  CHECK(reloader.wait(Deadline::in(Duration(10'000))).value().kind == Kind::refused);
  std::jthread maker([&] {
    std::filesystem::create_directory(folder);
    above.write("new", kOther);
    std::filesystem::rename(above.path() / "new", folder / "agent.json");
  });
  CHECK(reloader.wait(Deadline::in(Duration(10'000))).value().kind == Kind::taken);
}

TEST_CASE("a change that needs a restart is refused by name, and nothing of the file is taken") {
  Fixture fixture;
  fixture.folder.write("agent.json",
                       R"({"sweepSeconds": 30, "stateDir": "/other", "kubelet": false})");
  const Reload reload = fixture.wait();
  CHECK(reload.kind == Kind::refused);
  CHECK(reload.reasons ==
        std::vector<std::string>{"kubelet: cannot change from the default to false while the agent "
                                 "runs: restart the agent",
                                 "stateDir: cannot change from the default to \"/other\" while the "
                                 "agent runs: restart the agent"});
  CHECK(fixture.interval() == Duration(10'000));
  CHECK(fixture.write(R"({"sweepSeconds": 30, "stateDir": "/var/lib/ibpod"})") == Kind::taken);
}

}  // namespace
}  // namespace ibpod::agent::config
