#include "agent/config/reloader.h"

#include "tests/support/temp_folder.h"

#include <thread>

#include <doctest/doctest.h>

namespace ibpod::agent {
namespace {

using Kind = Reload::Kind;

const std::string kGood = R"({"sweepSeconds": 10})";
const std::string kOther = R"({"sweepSeconds": 20, "cdi": true})";

struct Bed {
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

TEST_CASE("a file that is written anew is taken, with the names of what changed") {
  Bed bed;
  CHECK(bed.reloader.poll().kind == Kind::unchanged);
  bed.folder.write("agent.json", kOther);
  const Reload reload = bed.wait();
  CHECK(reload.kind == Kind::taken);
  CHECK(reload.changed == std::vector<std::string>{"sweepSeconds"});
  CHECK(bed.interval() == Duration(20'000));
}

TEST_CASE("a file that is replaced is taken, one that is the same is not looked at twice") {
  Bed bed;
  std::filesystem::rename(bed.folder.write("new", kOther), bed.file);
  CHECK(bed.wait().kind == Kind::taken);
  std::filesystem::rename(bed.folder.write("new", kOther), bed.file);
  CHECK(bed.reloader.poll().kind == Kind::unchanged);
  CHECK(bed.reloader.wait(Deadline::in(Duration(0))).value().kind == Kind::unchanged);
}

TEST_CASE("whatever becomes of the file, the last good configuration serves on") {
  Bed bed;
  for (const std::string& bad :
       {std::string(), std::string("{"), std::string(R"({"sweepSeconds": 1})"),
        std::string("{\"cdi\": true, \"x\": 1}"), std::string(5 << 20, ' ')}) {
    CAPTURE(bad.substr(0, 30));
    CHECK(bed.write(bad) == Kind::refused);
    CHECK(bed.reloader.poll().kind == Kind::unchanged);
    CHECK(bed.interval() == Duration(10'000));
  }
  std::filesystem::remove(bed.file);
  const Reload gone = bed.wait();
  CHECK(gone.kind == Kind::refused);
  CHECK(gone.reasons ==
        std::vector<std::string>{"open " + bed.file.string() + ": No such file or directory"});
  CHECK(bed.write(kOther) == Kind::taken);
}

TEST_CASE("a bad file that becomes the old good one again is taken, with nothing changed") {
  Bed bed;
  CHECK(bed.write("{") == Kind::refused);
  bed.folder.write("agent.json", kGood);
  const Reload reload = bed.wait();
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

TEST_CASE("a change that comes while somebody waits ends the waiting") {
  Bed bed;
  std::jthread writer([&] { std::filesystem::rename(bed.folder.write("new", kOther), bed.file); });
  CHECK(bed.wait().kind == Kind::taken);
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
  Bed bed;
  bed.folder.write("agent.json", R"({"sweepSeconds": 30, "stateDir": "/other", "kubelet": false})");
  const Reload reload = bed.wait();
  CHECK(reload.kind == Kind::refused);
  CHECK(reload.reasons == std::vector<std::string>{
                              "kubelet: got false, expected the default, as it was at the start: "
                              "a change needs a restart of the agent",
                              "stateDir: got \"/other\", expected the default, as it was at the "
                              "start: a change needs a restart of the agent"});
  CHECK(bed.interval() == Duration(10'000));
  CHECK(bed.write(R"({"sweepSeconds": 30, "stateDir": "/var/lib/ibpod"})") == Kind::taken);
}

}  // namespace
}  // namespace ibpod::agent
