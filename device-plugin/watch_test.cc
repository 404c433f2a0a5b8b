#include "device-plugin/watch.h"

#include "tests/support/temp_folder.h"

#include <thread>

#include <doctest/doctest.h>

namespace ibpod::device_plugin {
namespace {

// The machine's own events may wake the watch at any time: a test waits until what it has caused is
// seen, and never says that nothing comes.
constexpr Duration kTimeout{20'000};

struct Node {
  TempFolder state;
  node::Records records{state.path()};
  Path folder = state.path() / "attachments/0000:3b:00.2";
};

// True if the watch reports `expected`, with waits of `each`, in all the time that a test has.
bool says(Watch& watch, WakeReason expected, Duration each = kTimeout) {
  const Deadline timeout = Deadline::in(kTimeout);
  while (!timeout.passed()) {
    const Result<WakeReason> wake_reason = watch.wait(Deadline::in(each));
    REQUIRE(wake_reason.ok());
    if (*wake_reason == expected) return true;
  }
  return false;
}

TEST_CASE("a record that comes or goes wakes, in a folder that is new too") {
  const Node node;
  Watch watch = Watch::open(node.records).value();
  std::filesystem::create_directories(node.folder);
  CHECK(*watch.wait(Deadline::in(kTimeout)) == WakeReason::changed);
  node.state.write("attachments/0000:3b:00.2/c1:net1.json", "{}");
  CHECK(*watch.wait(Deadline::in(kTimeout)) == WakeReason::changed);
  std::filesystem::remove_all(node.folder);
  CHECK(*watch.wait(Deadline::in(kTimeout)) == WakeReason::changed);
}

TEST_CASE("a deadline that passes without an event is told") {
  const Node node;
  Watch watch = Watch::open(node.records).value();
  CHECK(says(watch, WakeReason::deadline, Duration(0)));
}

TEST_CASE("what has no event is due again and again") {
  const Node node;
  Watch watch = Watch::open(node.records, Duration(10)).value();
  CHECK(says(watch, WakeReason::due));
  CHECK(says(watch, WakeReason::due));
}

TEST_CASE("who waits can be called off from another thread, for good") {
  const Node node;
  Watch watch = Watch::open(node.records).value();
  std::thread other([&] { watch.cancel(); });
  CHECK(says(watch, WakeReason::cancelled));
  other.join();
  CHECK(*watch.wait(Deadline::in(kTimeout)) == WakeReason::cancelled);
}

TEST_CASE("the records' folder is made, so that the first of them is seen") {
  const Node node;
  CHECK(Watch::open(node.records).ok());
  CHECK(path_exists(node.state.path() / "attachments"));
}

TEST_CASE("records in a place where no folder can be made are an error that names it") {
  const TempFolder folder;
  const Path file = folder.write("state", "a file");
  const Result<Watch> watch = Watch::open(node::Records(file));
  REQUIRE(!watch.ok());
  CHECK(watch.error().text().find(file.string()) != std::string::npos);
}

}  // namespace
}  // namespace ibpod::device_plugin
