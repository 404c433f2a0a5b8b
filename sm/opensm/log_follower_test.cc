#include "sm/opensm/log_follower.h"

#include "tests/support/temp_folder.h"

#include <fstream>

#include <doctest/doctest.h>

namespace ibpod::sm::opensm {
namespace {

using Marks = std::vector<LogMark>;

constexpr auto kStart = "Nov 22 08:09:51 997097 [8C5DE740] 0x03 -> OpenSM 3.3.23\n";
constexpr auto kSweep = "Nov 22 08:09:52 012222 [895D76C0] 0x04 -> state_mgr_sweep_hop_0: \n";
constexpr auto kUp = "Nov 22 08:09:52 025525 [895D76C0] 0x02 -> SUBNET UP\n";
constexpr auto kOtherSweep = "Nov 22 08:10:00 000000 [7A5D76C0] 0x04 -> state_mgr_sweep_hop_0: \n";

struct FollowedLog {
  TempFolder folder;
  Path path = folder.path() / "log";
  LogFollower log{path};
  bool lost = false;

  void append(const std::string& text) const { std::ofstream(path, std::ios::app) << text; }
  Marks read() {
    Marks all;
    lost = false;
    for (auto part = log.read(); part; part = log.read()) {
      lost = lost || part->lost;
      all.insert(all.end(), part->marks.begin(), part->marks.end());
    }
    return all;
  }
};

TEST_CASE("each mark is read once, and what was there before is skipped") {
  FollowedLog followed;
  followed.append(std::string(kStart) + kSweep);
  REQUIRE(followed.log.skip());
  CHECK(followed.read().empty());
  followed.append(kSweep);
  CHECK(followed.read() == Marks{LogMark::sweep_begins});
  followed.append(kUp);
  CHECK(followed.read() == Marks{LogMark::subnet_up});
  CHECK(followed.read().empty());
  CHECK(!followed.lost);
}

TEST_CASE("after a truncation lines are missing") {
  FollowedLog followed;
  followed.append(std::string(kSweep) + kUp);
  followed.read();
  std::ofstream(followed.path, std::ios::trunc) << kSweep;
  CHECK(followed.read() == Marks{LogMark::sweep_begins});
  CHECK(followed.lost);
}

TEST_CASE("the thread that sweeps is another one after a restart") {
  FollowedLog followed;
  followed.append(kSweep);
  followed.read();
  followed.append(kOtherSweep);
  CHECK(followed.read().empty());
  followed.log.restart();
  followed.append(kOtherSweep);
  CHECK(followed.read() == Marks{LogMark::sweep_begins});
}

TEST_CASE("of an earlier log only the last process counts, and reading continues after it") {
  FollowedLog followed;
  followed.append(std::string(kStart) + kSweep + kUp + kStart + kOtherSweep);
  REQUIRE(followed.log.skip());
  CHECK(followed.log.reread() == Marks{LogMark::sweep_begins});
  CHECK(followed.read().empty());
  followed.append(kOtherSweep);
  CHECK(followed.read() == Marks{LogMark::sweep_begins});
}

}  // namespace
}  // namespace ibpod::sm::opensm
