#include "lib/fabric/partitions_conf.h"

#include <doctest/doctest.h>

namespace ibpod::fabric {
namespace {

constexpr OpenSmOptions kNone{};
const ib::Guid kFirst{0x0002c90300001234}, kSecond{0x0002c90300001235};

PartitionDefinition blue() {
  PartitionDefinition definition;
  definition.name = "blue";
  definition.pkey = ib::PKey(0x10);
  definition.ipoib = true;
  definition.members = {{kFirst, Membership::full}, {kSecond, Membership::limited}};
  return definition;
}

TEST_CASE(
    "a file: the default partition first, a member a line, the administrator's section last") {
  const std::string manual = "storage=0x0020 : 0x0002c90300009999=full; # no newline here";
  const auto text = render({blue(), default_definition()}, manual, kNone);
  REQUIRE(text.ok());
  CHECK(*text ==
        "# Written by ibpod-sm. What is changed here is overwritten, but for the administrator's "
        "section.\n"
        "\n"
        "Default=0x7fff, ipoib, mtu=4, rate=3, sl=0, defmember=limited :\n"
        "\tALL=limited,\n"
        "\tSELF=full;\n"
        "\n"
        "blue=0x0010, ipoib, mtu=4, rate=3, sl=0, defmember=limited :\n"
        "\t0x0002c90300001234=full,\n"
        "\t0x0002c90300001235=limited;\n"
        "\n"
        "# The administrator's section: ibpod-sm keeps what stands below this line as it is.\n" +
            manual);
  CHECK(manual_section(*text) == manual);
}

TEST_CASE("a partition without members stays in the file") {
  PartitionDefinition empty = blue();
  empty.members.clear();
  const auto text = render({default_definition(), empty}, "", kNone);
  REQUIRE(text.ok());
  CHECK(text->find("\tNONE;\n") != std::string::npos);
  CHECK(read_partitions_conf(*text, kNone)->at(1) == empty);
}

TEST_CASE("members that keep their index 0 have a definition of their own") {
  PartitionDefinition definition = blue();
  definition.index0 = true;
  definition.members[1].skip_index0 = true;
  const auto text = render({default_definition(), definition}, "", kNone);
  REQUIRE(text.ok());
  CHECK(text->find("blue=0x0010, indx0, ipoib, mtu=4, rate=3, sl=0, defmember=limited :\n"
                   "\t0x0002c90300001234=full;\n"
                   "blue=0x0010, ipoib, mtu=4, rate=3, sl=0, defmember=limited :\n"
                   "\t0x0002c90300001235=limited;\n") != std::string::npos);
  CHECK(read_partitions_conf(*text, kNone)->at(1) == definition);
  definition.members[0].skip_index0 = true;
  CHECK(read_partitions_conf(render({default_definition(), definition}, "", kNone).value(), kNone)
            ->at(1) == definition);
}

TEST_CASE("nothing is written without the default partition, or with two of one key") {
  CHECK(render({blue()}, "", kNone).error().text().find("no rule for the default partition") !=
        std::string::npos);
  CHECK(render({default_definition(), blue(), blue()}, "", kNone).error().text() ==
        "two partitions have the P_Key 0x0010");
  CHECK(render({}, "", kNone).error().code() == Code::invalid);
}

TEST_CASE("a key that both name is refused, whatever the administrator calls it") {
  for (const char* theirs :
       {"blue=0x10, ipoib : ALL;", "red=0x0010 : ALL;", "Default=0x7fff : ALL=full;"}) {
    CAPTURE(theirs);
    const auto text = render({default_definition(), blue()}, theirs, kNone);
    REQUIRE_FALSE(text.ok());
    CHECK(text.error().code() == Code::exists);
  }
}

TEST_CASE("a fault in the administrator's section is told with its place there") {
  const auto text = render({default_definition()}, "a=0x20 : SELF;\nb=0x21 : 0x12;\n", kNone);
  REQUIRE_FALSE(text.ok());
  CHECK(text.error().text().starts_with("the administrator's section: line 2, column 10: "));
}

TEST_CASE("what OpenSM would not build as it is meant is not written") {
  PartitionDefinition both = blue(), sl = blue(), shadowed = blue(), group = blue();
  both.members[0].membership = Membership::both;
  sl.group.sl = 1;
  shadowed.members.push_back({PortGroup::all, Membership::limited});
  group.groups.push_back({{0xff, 0x12, 0x40, 0x1b}, {Mtu::mtu_256}});
  for (const PartitionDefinition& definition : {both, sl, shadowed, group})
    CHECK_FALSE(render({default_definition(), definition}, "", kNone));
  CHECK(render({default_definition(), both}, "", {true, false}));
  CHECK(render({default_definition(), sl}, "", {false, true}));
}

TEST_CASE("a file that is not what was meant is judged so, wherever it differs") {
  const std::vector<PartitionDefinition> definitions = {default_definition(), blue()};
  const std::string manual = "storage=0x0020 : ALL_CAS=full;\n";
  const std::string text = render(definitions, manual, kNone).value();
  CHECK(verify_text(text, definitions, manual, kNone));
  CHECK_FALSE(verify_text(text, {default_definition()}, manual, kNone));
  CHECK_FALSE(verify_text(text, definitions, "", kNone));
  CHECK_FALSE(verify_text(text, definitions, manual + "\n", kNone));
  CHECK_FALSE(verify_text("", definitions, manual, kNone));
  CHECK_FALSE(verify_text(text + "more=0x21 : ALL;\n", definitions, manual, kNone));
  PartitionDefinition red = blue();
  red.name = "red";
  CHECK_FALSE(verify_text(text, {default_definition(), red}, manual, kNone));
  for (size_t cut = 0; cut < text.size(); ++cut) {
    CAPTURE(cut);
    REQUIRE_FALSE(verify_text(text.substr(0, cut), definitions, manual, kNone));
  }
}

TEST_CASE(
    "whichever letter, digit or mark of the partitions changes, the file is not judged the same") {
  const std::vector<PartitionDefinition> definitions = {default_definition(), blue()};
  const std::string text = render(definitions, "", kNone).value();
  const size_t begin = text.find("Default"), end = text.find("# The administrator");
  for (size_t at = begin; at < end; ++at) {
    if (text[at] == ' ' || text[at] == '\t' || text[at] == '\n') continue;
    for (const char byte : {'0', '1', 'f', ',', ';', ' ', '\n', '='}) {
      std::string changed = text;
      changed[at] = byte;
      CAPTURE(changed);
      // A comma at a line's end says no more than the line's end.
      const bool same = changed == text ||
                        (text[at] == ',' && text[at + 1] == '\n' && (byte == ' ' || byte == '\n'));
      REQUIRE(verify_text(changed, definitions, "", kNone).ok() == same);
    }
  }
}

TEST_CASE("the administrator's section begins behind the line that says so, the first of them") {
  const std::string text = render({default_definition()}, "", kNone).value();
  CHECK(manual_section(text) == "");
  const std::string marker = text.substr(text.find("# The administrator"));
  CHECK(manual_section(text + marker) == marker);
  CHECK(render({default_definition()}, marker, kNone).ok());
  CHECK(!manual_section("Default=0x7fff : ALL;\n"));
  CHECK(!manual_section(" " + marker));
  CHECK(manual_section(" " + marker + marker) == "");
}

}  // namespace
}  // namespace ibpod::fabric
