#include "sm/ufm/written_groups.h"

#include "tests/support/temp_folder.h"

#include <filesystem>

#include <doctest/doctest.h>

namespace ibpod::sm::ufm {
namespace {

constexpr ib::Guid kPf{0x0002c90300a1b2c3}, kOther{0x0002c90300a1b2c4};
const WrittenPort kPort{{ib::Guid(0x12), ib::Guid(0x11)}, {7, 9}, true};

TEST_CASE("what was written is there after a start; without contents the file is gone") {
  const TempFolder folder;
  const Path path = folder.path() / "mapping";
  auto groups = WrittenGroups::open(path).value();
  CHECK(groups.all().empty());
  CHECK(groups.of(kPf).empty());
  REQUIRE(groups.write(kPf, kPort));
  REQUIRE(groups.write(kOther, {.ids = {1}}));
  CHECK(read_file(path / "0002c90300a1b2c3.json"));
  groups = WrittenGroups::open(path).value();
  CHECK(groups.of(kPf) == kPort);
  CHECK(groups.all().size() == 2);
  REQUIRE(groups.write(kPf, {}));
  CHECK_FALSE(read_file(path / "0002c90300a1b2c3.json"));
  CHECK(WrittenGroups::open(path)->all().size() == 1);
}

TEST_CASE("a damaged file is an error with its name and what to do; others are left alone") {
  const TempFolder folder;
  folder.write("notes.json", "x");
  folder.write("0002c90300a1b2c3.json.new", "x");
  CHECK(WrittenGroups::open(folder.path())->all().empty());
  const auto refusal = [&](const std::string& text) {
    folder.write("0002c90300a1b2c3.json", text);
    const auto opened = WrittenGroups::open(folder.path());
    REQUIRE_FALSE(opened);
    CHECK(opened.error().text().find("0002c90300a1b2c3.json") != std::string::npos);
    return opened.error();
  };
  const std::string rest = R"("vfs": [], "groups": [1], "making": false})";
  CHECK(refusal("{").text().find("is damaged") != std::string::npos);
  CHECK(refusal(R"({"version": 1, "pf": "00:02:c9:03:00:a1:b2:c4", )" + rest).code() ==
        Code::invalid);
  CHECK(refusal(R"({"version": 1, "pf": "00:02:c9:03:00:a1:b2:c3", "vfs": [], "groups": [-1],
                    "making": false})")
            .code() == Code::invalid);
  CHECK(refusal(R"({"version": 2, "pf": "00:02:c9:03:00:a1:b2:c3", )" + rest).code() ==
        Code::unsupported);
}

TEST_CASE("a record that cannot be written is as before") {
  const TempFolder folder;
  auto groups = WrittenGroups::open(folder.path() / "mapping").value();
  REQUIRE(groups.write(kPf, kPort));
  std::filesystem::remove_all(folder.path() / "mapping");
  CHECK_FALSE(groups.write(kPf, {.ids = {1}}));
  CHECK(groups.of(kPf) == kPort);
  CHECK(groups.write(kPf, kPort));  // nothing to write
}

}  // namespace
}  // namespace ibpod::sm::ufm
