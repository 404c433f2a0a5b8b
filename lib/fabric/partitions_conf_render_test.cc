#include "lib/fabric/partitions_conf.h"

#include <doctest/doctest.h>

namespace ibpod::fabric {
namespace {

constexpr OpenSmOptions kNone{};
const ib::Guid kFirst{0x0002c90300001234}, kSecond{0x0002c90300001235};

Partition blue() {
  Partition partition;
  partition.name = "blue";
  partition.pkey = ib::PKey(0x10);
  partition.ipoib = true;
  partition.members = {{kFirst, Membership::full}, {kSecond, Membership::limited}};
  return partition;
}

TEST_CASE(
    "a file: the default partition first, a member a line, the administrator's section last") {
  const std::string administrators = "storage=0x0020 : 0x0002c90300009999=full; # no newline here";
  const auto text = render({blue(), default_partition()}, administrators, kNone);
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
            administrators);
  CHECK(administrators_section(*text) == administrators);
}

TEST_CASE("a partition that nobody is in stays in the file") {
  Partition empty = blue();
  empty.members.clear();
  const auto text = render({default_partition(), empty}, "", kNone);
  REQUIRE(text.ok());
  CHECK(text->find("\tNONE;\n") != std::string::npos);
  CHECK(read_partitions_conf(*text, kNone)->at(1) == empty);
}

TEST_CASE("members that keep their index 0 have a definition of their own") {
  Partition partition = blue();
  partition.index0 = true;
  partition.members[1].keeps_index0 = true;
  const auto text = render({default_partition(), partition}, "", kNone);
  REQUIRE(text.ok());
  CHECK(text->find("blue=0x0010, indx0, ipoib, mtu=4, rate=3, sl=0, defmember=limited :\n"
                   "\t0x0002c90300001234=full;\n"
                   "blue=0x0010, ipoib, mtu=4, rate=3, sl=0, defmember=limited :\n"
                   "\t0x0002c90300001235=limited;\n") != std::string::npos);
  CHECK(read_partitions_conf(*text, kNone)->at(1) == partition);
  partition.members[0].keeps_index0 = true;
  CHECK(read_partitions_conf(render({default_partition(), partition}, "", kNone).value(), kNone)
            ->at(1) == partition);
}

TEST_CASE("nothing is written without the default partition, or with two of one key") {
  CHECK(render({blue()}, "", kNone).error().text().find("no rule for the default partition") !=
        std::string::npos);
  CHECK(render({default_partition(), blue(), blue()}, "", kNone).error().text() ==
        "two partitions have the P_Key 0x0010");
  CHECK(render({}, "", kNone).error().code() == Code::invalid);
}

TEST_CASE("a key that both name is refused, whatever the administrator calls it") {
  for (const char* theirs :
       {"blue=0x10, ipoib : ALL;", "red=0x0010 : ALL;", "Default=0x7fff : ALL=full;"}) {
    CAPTURE(theirs);
    const auto text = render({default_partition(), blue()}, theirs, kNone);
    REQUIRE_FALSE(text.ok());
    CHECK(text.error().code() == Code::exists);
  }
}

TEST_CASE("a fault in the administrator's section is told with its place there") {
  const auto text = render({default_partition()}, "a=0x20 : SELF;\nb=0x21 : 0x12;\n", kNone);
  REQUIRE_FALSE(text.ok());
  CHECK(text.error().text().starts_with("the administrator's section: line 2, column 10: "));
}

TEST_CASE("what OpenSM would not build as it is meant is not written") {
  Partition both = blue(), sl = blue(), shadowed = blue(), group = blue();
  both.members[0].membership = Membership::both;
  sl.group.sl = 1;
  shadowed.members.push_back({PortGroup::all, Membership::limited});
  group.groups.push_back({{0xff, 0x12, 0x40, 0x1b}, {Mtu::mtu_256}});
  for (const Partition& partition : {both, sl, shadowed, group})
    CHECK_FALSE(render({default_partition(), partition}, "", kNone));
  CHECK(render({default_partition(), both}, "", {true, false}));
  CHECK(render({default_partition(), sl}, "", {false, true}));
}

TEST_CASE("a file that is not what was meant is judged so, wherever it differs") {
  const std::vector<Partition> partitions = {default_partition(), blue()};
  const std::string administrators = "storage=0x0020 : ALL_CAS=full;\n";
  const std::string text = render(partitions, administrators, kNone).value();
  CHECK(judge(text, partitions, administrators, kNone));
  CHECK_FALSE(judge(text, {default_partition()}, administrators, kNone));
  CHECK_FALSE(judge(text, partitions, "", kNone));
  CHECK_FALSE(judge(text, partitions, administrators + "\n", kNone));
  CHECK_FALSE(judge("", partitions, administrators, kNone));
  CHECK_FALSE(judge(text + "more=0x21 : ALL;\n", partitions, administrators, kNone));
  Partition red = blue();
  red.name = "red";
  CHECK_FALSE(judge(text, {default_partition(), red}, administrators, kNone));
  for (size_t cut = 0; cut < text.size(); ++cut) {
    CAPTURE(cut);
    REQUIRE_FALSE(judge(text.substr(0, cut), partitions, administrators, kNone));
  }
}

TEST_CASE(
    "whichever letter, digit or mark of the partitions changes, the file is not judged the same") {
  const std::vector<Partition> partitions = {default_partition(), blue()};
  const std::string text = render(partitions, "", kNone).value();
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
      REQUIRE(judge(changed, partitions, "", kNone).ok() == same);
    }
  }
}

TEST_CASE("the administrator's section begins behind the line that says so, the first of them") {
  const std::string text = render({default_partition()}, "", kNone).value();
  CHECK(administrators_section(text) == "");
  const std::string marker = text.substr(text.find("# The administrator"));
  CHECK(administrators_section(text + marker) == marker);
  CHECK(render({default_partition()}, marker, kNone).ok());
  CHECK(!administrators_section("Default=0x7fff : ALL;\n"));
  CHECK(!administrators_section(" " + marker));
  CHECK(administrators_section(" " + marker + marker) == "");
}

}  // namespace
}  // namespace ibpod::fabric
