// A state folder that is damaged, or another process's: refused with what to do, and nothing that
// runs is touched.
#include "tests/fabric/simulation.h"
#include "tests/fabric/sm/table_checks.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

struct SavedState : SmFixture {
  SavedState() {
    create_partition("blue");
    REQUIRE(bind(1, "blue") == "verified");
    REQUIRE(bind(5, "blue") == "verified");
  }
  Path database() const { return state_folder() / "promises.db"; }
  // The service that runs, and its configuration.
  struct Running {
    std::optional<pid_t> opensm;
    std::vector<ib::PKeyTable> tables;
    std::string partitions;
    bool operator==(const Running&) const = default;
  };
  Running running() { return {opensm(), subnet.tables(), read_file(partitions_conf()).value()}; }
  // Starts, and is to end by itself; what it has said.
  std::string refusal() {
    launch();
    if (serves()) FAIL("it serves");
    const auto [said, code] = reap();
    CHECK(code == 1);
    return said;
  }
};

std::string without(const std::string& text, size_t at, size_t size) {
  return text.substr(0, at) + std::string(size, '\x55') + text.substr(at + size);
}

TEST_CASE("a damaged database is refused by its name and what to do, and nothing is touched") {
  SavedState fixture;
  fixture.end();
  const SavedState::Running before = fixture.running();
  const std::string good = read_file(fixture.database(), 16 << 20).value();
  REQUIRE(good.size() >= 8192);
  const std::vector<std::pair<const char*, std::string>> damaged{
      {"its header", without(good, 0, 64)},
      {"a page of it", without(good, 4096 + 8, 64)},
      {"its end is missing", good.substr(0, good.size() / 2)},
      {"all of it is missing", ""},
      {"something else", std::string(8192, 'x')},
  };
  for (const auto& [what, content] : damaged) {
    CAPTURE(what);
    std::ofstream(fixture.database(), std::ios::trunc) << content;
    const std::string said = fixture.refusal();
    CHECK_MESSAGE(said.find(fixture.database().native()) != std::string::npos, said);
    CHECK_MESSAGE(said.find("from a backup") != std::string::npos, said);
    CHECK(fixture.running() == before);
  }
  std::ofstream(fixture.database(), std::ios::trunc) << good;
  fixture.start();
  fixture.until([&] { return fixture.all_verified(); });
  check_tables(fixture);
  CHECK(fixture.opensm() == before.opensm);
}

// Another one, beside the first, with the same configuration.
std::string second(const SmFixture& fixture) {
  auto started = Background::start(
      {.words = {std::filesystem::canonical("/proc/self/exe").parent_path() / "ibpod-sm",
                 "--config", fixture.folder() / "sm.json"},
       .folder = std::filesystem::current_path(),
       .environment = Simulation::environment("h5", std::getenv("IBSIM_SOCKNAME"))});
  REQUIRE(started);
  std::string said = started->output();
  CHECK(started->finish() == 1);
  return said;
}

TEST_CASE("a second ibpod-sm on the same folder is refused, and the first one goes on") {
  SavedState fixture;
  const SavedState::Running before = fixture.running();
  const std::string said = second(fixture);
  CHECK_MESSAGE(said.find(fixture.database().native()) != std::string::npos, said);
  CHECK_MESSAGE(said.find("another ibpod-sm") != std::string::npos, said);
  CHECK(fixture.running() == before);
  CHECK(fixture.bind(2, "blue") == "verified");
  check_tables(fixture);
}

}  // namespace
}  // namespace ibpod
