#include "sm/ufm/written_members.h"

#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::sm::ufm {
namespace {

constexpr ib::PKey kBlue{0x10}, kRed{0x11};
constexpr ib::Guid kA{0xa}, kB{0xb}, kC{0xc};

const WrittenPartition kTwo{{kA, {{ib::Membership::full, true}, false}},
                            {kB, {{ib::Membership::limited, false}, true}},
                            {kC, {{ib::Membership::limited, false}, false, true}}};

TEST_CASE("what was written is there after a restart, for each P_Key") {
  const TempFolder folder;
  {
    WrittenMembers record = WrittenMembers::open(folder.path() / "ufm").value();
    CHECK(record.all().empty());
    REQUIRE(record.write(kBlue, kTwo));
    REQUIRE(record.write(kRed, {{kB, {}}}));
    CHECK(*record.find(kBlue) == kTwo);
  }
  CHECK(list_folder(folder.path() / "ufm").value() ==
        std::vector<std::string>{"0x0010.json", "0x0011.json"});
  WrittenMembers record = WrittenMembers::open(folder.path() / "ufm").value();
  CHECK(record.all() == std::map<ib::PKey, WrittenPartition>{{kBlue, kTwo}, {kRed, {{kB, {}}}}});
  REQUIRE(record.write(kBlue, {}));
  CHECK(record.find(kBlue) == nullptr);
  CHECK(list_folder(folder.path() / "ufm").value() == std::vector<std::string>{"0x0011.json"});
}

TEST_CASE("an entry of an earlier release counts as shown, and one of this release is as it says") {
  const TempFolder folder;
  const auto text = [](const std::string& intended) {
    return R"({"version":1,"pkey":"0x0010","members":[{"guid":"00:00:00:00:00:00:00:0a",)"
           R"("membership":"full","index0":true,"leaving":false)" +
           intended + "}]}\n";
  };
  for (const auto& [word, intended] : std::map<std::string, bool>{
           {"", false}, {R"(,"intended":false)", false}, {R"(,"intended":true)", true}}) {
    CAPTURE(word);
    folder.write("0x0010.json", text(word));
    const WrittenMembers record = WrittenMembers::open(folder.path()).value();
    CHECK(record.find(kBlue)->at(kA) ==
          WrittenMember{{ib::Membership::full, true}, false, intended});
  }
  folder.write("0x0010.json", text(R"(,"intended":"yes")"));
  CHECK_FALSE(WrittenMembers::open(folder.path()));
}

TEST_CASE("after a failed write the record is as before") {
  const TempFolder folder;
  WrittenMembers record = WrittenMembers::open(folder.path() / "ufm").value();
  REQUIRE(record.write(kBlue, {{kA, {}}}));
  folder.block(folder.path() / "ufm" / "0x0010.json");
  CHECK_FALSE(record.write(kBlue, kTwo));
  CHECK(*record.find(kBlue) == WrittenPartition{{kA, {}}});
  CHECK_FALSE(record.write(kBlue, {}));
  CHECK(record.find(kBlue) != nullptr);
}

TEST_CASE("files that are not the record's are left alone") {
  const TempFolder folder;
  for (const char* name : {"0x0010.json.tmp", "0x10.json", "0x8010.json", "0x0000.json", "notes"})
    folder.write(name, "no record");
  CHECK(WrittenMembers::open(folder.path()).value().all().empty());
  CHECK(list_folder(folder.path()).value().size() == 5);
}

TEST_CASE("a damaged file is an error that names it and what to do") {
  const std::string entry = R"({"guid":"00:00:00:00:00:00:00:0a","membership":"full",)"
                            R"("index0":true,"leaving":false})";
  const struct {
    std::string content;
    std::string text;
    Code code = Code::invalid;
  } cases[] = {
      {"{",
       "is damaged: restore it from a backup, or remove it, and remove from P_Key 0x0010 in "
       "UFM what no partition of ibpod-sm has"},
      {R"({"version":1,"pkey":"0x0011","members":[]})",
       "pkey: expected 0x0010 as in the file's name, got 0x0011"},
      {R"({"version":1,"pkey":"0x0010"})", "members"},
      {R"({"version":1,"pkey":"0x0010","members":[)" + entry + "," + entry + "]}",
       "members[1].guid: the port is there twice"},
      {R"({"version":1,"pkey":"0x0010","members":[{"guid":"0xa"}]})", "guid"},
      {R"({"version":2,"pkey":"0x0010","members":[]})", "version", Code::unsupported},
  };
  for (const auto& damaged : cases) {
    const TempFolder folder;
    const Path file = folder.write("0x0010.json", damaged.content);
    const auto opened = WrittenMembers::open(folder.path());
    CAPTURE(damaged.content);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code() == damaged.code);
    CHECK(opened.error().text().find(file.string()) != std::string::npos);
    CHECK_MESSAGE(opened.error().text().find(damaged.text) != std::string::npos,
                  opened.error().text());
    CHECK(read_file(file).value() == damaged.content);
  }
}

}  // namespace
}  // namespace ibpod::sm::ufm
