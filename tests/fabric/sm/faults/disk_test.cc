// The disk of the state folder fills: what would be promised is refused by that reason, what is
// promised stays; and when there is room again it goes on, and nobody has to start anything.
#include "tests/fabric/sm/faults/faults.h"
#include "tests/fabric/sm/faults/small_disk.h"
#include "tests/fabric/sm/table_checks.h"
#include "tests/support/run_tests.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

struct DiskFixture : SmFixture {
  DiskFixture() : SmFixture(Unstarted{}), disk(state_folder()) {
    if (!disk.mounted()) skip_case("nothing can be mounted here");
  }
  SmallDisk disk;
};

bool names_the_disk(const std::string& text) {
  return text.find("No space left") != std::string::npos ||
         text.find("disk is full") != std::string::npos;
}

// The answer to a Bind that cannot be stored.
struct Answer {
  bool verified = false;
  std::string text;
};
Answer try_bind(SmFixture& fixture, unsigned host) {
  const auto bound = fixture.client().bind(SmFixture::request(host, "blue"),
                                           SmFixture::deadline_in(Duration(3000)));
  if (!bound) return {false, bound.error().text()};
  return {bound->state == fabric::BindingState::verified, bound->condition.text};
}

TEST_CASE("the disk is full: refused with its reason, kept what was promised, and it goes on") {
  DiskFixture fixture;
  if (!fixture.disk.mounted()) return;
  fixture.start();
  fixture.create_partition("blue");
  REQUIRE(fixture.bind(1, "blue") == "verified");
  REQUIRE(fixture.bind(5, "blue") == "verified");
  std::mt19937 random = random_of("disk");
  size_t refused = 0;
  std::vector<int64_t> rooms = some_of(24, 2, random);
  if (rooms.front() != 0) rooms.insert(rooms.begin(), 0);
  for (const int64_t room : rooms) {
    CAPTURE(room);
    fixture.disk.fill(static_cast<size_t>(room));
    const Answer answer = try_bind(fixture, 2);
    if (!answer.verified) {
      ++refused;
      CHECK_MESSAGE(names_the_disk(answer.text), answer.text);
    }
    check_verified(fixture);
    const std::string left = fixture.unbind(5, "c1", Duration(3000));
    CHECK_MESSAGE((left == "released" || left == "releasing" || names_the_disk(left)), left);
    CHECK(ib::find_in(fixture.table(1), ib::PKey(0x8001)));
    CHECK_FALSE(open_to_all(fixture.subnet.tables()));
    fixture.disk.empty();
    CHECK(fixture.unbind(5) == "released");
    CHECK(fixture.bind(2, "blue") == "verified");
    CHECK(fixture.bind(5, "blue", "c" + std::to_string(room + 2)) == "verified");
    check_tables(fixture);
    CHECK(fixture.unbind(2) == "released");
    CHECK(fixture.unbind(5, "c" + std::to_string(room + 2)) == "released");
    CHECK(fixture.bind(5, "blue") == "verified");
    check_tables(fixture);
  }
  CHECK(refused > 0);
}

TEST_CASE(
    "killed where the disk is full, it starts when there is room, with what it had promised") {
  DiskFixture fixture;
  if (!fixture.disk.mounted()) return;
  fixture.start();
  fixture.create_partition("blue");
  REQUIRE(fixture.bind(1, "blue") == "verified");
  fixture.disk.fill(0);
  fixture.kill();
  fixture.launch();
  const bool serves = fixture.serves();
  CHECK(ib::find_in(fixture.table(1), ib::PKey(0x8001)));
  if (serves) {
    check_verified(fixture);
  } else {
    const auto [said, code] = fixture.reap();
    CHECK(code == 1);
    CHECK_MESSAGE(names_the_disk(said), said);
  }
  fixture.disk.empty();
  if (!serves) fixture.launch();
  REQUIRE(fixture.serves());
  fixture.until_healthy();
  CHECK(fixture.bind(2, "blue") == "verified");
  fixture.until([&] { return fixture.all_verified(); });
  check_tables(fixture);
}

}  // namespace
}  // namespace ibpod
