// The disk of the state folder fills: what would be promised is refused by that reason, what is
// promised stays; and when there is room again it goes on, and nobody has to start anything.
#include "tests/fabric/sm/faults/faults.h"
#include "tests/fabric/sm/faults/small_disk.h"
#include "tests/fabric/sm/table_checks.h"
#include "tests/support/run_tests.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

struct DiskBed : SmBed {
  DiskBed() : SmBed(Unstarted{}), disk(state_folder()) {
    if (!disk.mounted()) skip_case("nothing can be mounted here");
  }
  SmallDisk disk;
};

bool names_the_disk(const std::string& text) {
  return text.find("No space left") != std::string::npos ||
         text.find("disk is full") != std::string::npos;
}

// What a Bind is answered where it may not be done.
struct Answer {
  bool verified = false;
  std::string text;
};
Answer try_bind(SmBed& bed, unsigned host) {
  const auto bound =
      bed.client().bind(SmBed::request(host, "blue"), SmBed::patience(Duration(3000)));
  if (!bound) return {false, bound.error().text()};
  return {bound->state == fabric::State::verified, bound->standing.text};
}

TEST_CASE("the disk is full: refused with its reason, kept what was promised, and it goes on") {
  DiskBed bed;
  if (!bed.disk.mounted()) return;
  bed.start();
  bed.partition("blue");
  REQUIRE(bed.bind(1, "blue") == "verified");
  REQUIRE(bed.bind(5, "blue") == "verified");
  std::mt19937 random = random_of("disk");
  size_t refused = 0;
  std::vector<int64_t> rooms = some_of(24, 2, random);
  if (rooms.front() != 0) rooms.insert(rooms.begin(), 0);
  for (const int64_t room : rooms) {
    CAPTURE(room);
    bed.disk.fill(static_cast<size_t>(room));
    const Answer answer = try_bind(bed, 2);
    if (!answer.verified) {
      ++refused;
      CHECK_MESSAGE(names_the_disk(answer.text), answer.text);
    }
    check_claims(bed);
    const std::string left = bed.unbind(5, "c1", Duration(3000));
    CHECK_MESSAGE((left == "released" || left == "releasing" || names_the_disk(left)), left);
    CHECK(ib::find_in(bed.table(1), ib::PKey(0x8001)));
    CHECK_FALSE(open_to_all(bed.subnet.tables()));
    bed.disk.empty();
    CHECK(bed.unbind(5) == "released");
    CHECK(bed.bind(2, "blue") == "verified");
    CHECK(bed.bind(5, "blue", "c" + std::to_string(room + 2)) == "verified");
    check_truth(bed);
    CHECK(bed.unbind(2) == "released");
    CHECK(bed.unbind(5, "c" + std::to_string(room + 2)) == "released");
    CHECK(bed.bind(5, "blue") == "verified");
    check_truth(bed);
  }
  CHECK(refused > 0);
}

TEST_CASE(
    "killed where the disk is full, it starts when there is room, with what it had promised") {
  DiskBed bed;
  if (!bed.disk.mounted()) return;
  bed.start();
  bed.partition("blue");
  REQUIRE(bed.bind(1, "blue") == "verified");
  bed.disk.fill(0);
  bed.kill();
  bed.launch();
  const bool serves = bed.serves();
  CHECK(ib::find_in(bed.table(1), ib::PKey(0x8001)));
  if (serves) {
    check_claims(bed);
  } else {
    const auto [said, code] = bed.reap();
    CHECK(code == 1);
    CHECK_MESSAGE(names_the_disk(said), said);
  }
  bed.disk.empty();
  if (!serves) bed.launch();
  REQUIRE(bed.serves());
  bed.until_well();
  CHECK(bed.bind(2, "blue") == "verified");
  bed.until([&] { return bed.all_verified(); });
  check_truth(bed);
}

}  // namespace
}  // namespace ibpod
