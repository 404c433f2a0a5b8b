// Partitions that a file declares.
#include "sm/registry/test_registry.h"

namespace ibpod::sm {
namespace {

using fabric::StaticMember;

Result<fabric::TenancyStatus> update(Bed& bed, const Tenancy& partition) {
  return bed.ledger->update(administrator(), partition, bed.now);
}
Result<fabric::TenancyStatus> remove(Bed& bed, const std::string& name) {
  return bed.ledger->remove(administrator(), name);
}

std::string names(const std::vector<fabric::Partition>& partitions) {
  std::string text;
  for (const fabric::Partition& partition : partitions)
    text += (text.empty() ? "" : " ") + partition.name;
  return text;
}
std::string names(const Ledger& ledger) { return names(*ledger.partitions()); }

std::string declare(Bed& bed, const std::vector<Tenancy>& partitions, const Declaring& how = {}) {
  std::string refused;
  for (const NotDeclared& one : bed.ledger->declare(partitions, bed.now, how).value())
    refused += one.name + ": " + one.error.text() + "\n";
  bed.commit();
  return refused;
}

TEST_CASE("declared partitions come, change and go with their file, and are read-only otherwise") {
  Bed bed({tenancy("mine", 0x100), tenancy("both", 0x101)});
  CHECK(
      declare(bed, {tenancy("a", 0x102), tenancy("b", 0), tenancy("both", 0x101, {"x"})}).empty());
  CHECK(names(*bed.ledger) == "Default a b both mine");
  CHECK(bed.ledger->partition("both")->declared);
  CHECK(bed.ledger->partition("both")->tenancy.allowed == std::vector<std::string>{"x"});
  CHECK_FALSE(bed.ledger->partition("mine")->declared);
  CHECK(update(bed, tenancy("a", 0)).error().code() == Code::denied);
  CHECK(remove(bed, "a").error().code() == Code::denied);
  bed.start();
  CHECK(remove(bed, "both").error().code() == Code::denied);
  const uint64_t version = bed.ledger->version();
  CHECK(
      declare(bed, {tenancy("a", 0x102), tenancy("b", 0), tenancy("both", 0x101, {"x"})}).empty());
  CHECK(bed.ledger->version() == version);
  CHECK(declare(bed, {tenancy("a", 0x102)}).empty());
  CHECK(names(*bed.ledger) == "Default a mine");
  bed.settle();
  CHECK(declare(bed, {}).empty());
  bed.settle();
  CHECK(names(*bed.ledger) == "Default mine");
}

TEST_CASE("what is wrong in the file is told, each by itself, and the rest is done") {
  Bed bed(none());
  REQUIRE(declare(bed, {tenancy("used", 0x100), tenancy("kept", 0x101)}).empty());
  bed.bind(request("n1", "a", vf(1), {{"used", kLimited}}));
  const std::string refused =
      declare(bed, {tenancy("kept", 0x102), tenancy("out", 0x300), tenancy("twice", 0x103),
                    tenancy("twice", 0x104), tenancy("bad name", 0x105), tenancy("good", 0x106)});
  CHECK(refused ==
        "used: 1 binding is in it, or was and is not released yet (`ibpodctl binding list "
        "--partition used`)\n"
        "twice: it is declared twice\n"
        "kept: pkey: it is 0x0101 for ever\n"
        "out: P_Key 0x0300 is in no range of \"pkeys\" whose \"use\" is \"explicit\" "
        "(0x0100-0x01ff)\n"
        "bad name: name: \"bad name\" is no name of a partition: expected 1 to 31 letters, digits "
        "and \"._-\"\n");
  CHECK(names(*bed.ledger) == "Default good kept twice used");
  CHECK(bed.ledger->partition("kept")->tenancy.pkey == ib::PKey(0x101));
  CHECK(bed.ledger->partition("kept")->declared);
  CHECK(bed.ledger->partition("used")->declared);
}

TEST_CASE("declarations may stand in any order") {
  Tenancy a = tenancy("a", 0x100), b = tenancy("b", 0x101);
  a.index0 = b.index0 = true;
  b.members = {{storage(1), kFull, ""}};
  Bed bed(none());
  REQUIRE(declare(bed, {a, b}).empty());
  std::swap(a.members, b.members);
  CHECK(declare(bed, {a, b}).empty());
  CHECK(bed.keys(storage(1)) == "0x8100");
}

TEST_CASE("a partition that is declared again while it is being deleted has to wait") {
  Bed bed(none());
  REQUIRE(declare(bed, {tenancy("a", 0x100)}).empty());
  bed.settle();
  REQUIRE(declare(bed, {}).empty());
  CHECK_FALSE(declare(bed, {tenancy("a", 0x100)}).empty());
  bed.settle();
  CHECK(declare(bed, {tenancy("a", 0x100)}).empty());
}

TEST_CASE("of a file that may mean more than it names nothing is removed") {
  Bed bed(none());
  REQUIRE(declare(bed, {tenancy("a", 0x100), tenancy("b", 0x101)}).empty());
  CHECK(
      declare(bed, {tenancy("a", 0x100, {"x"}), tenancy("c", 0x102)}, {.complete = false}).empty());
  CHECK(names(*bed.ledger) == "Default a b c");
  CHECK(bed.ledger->partition("b")->declared);
  CHECK(bed.ledger->partition("a")->tenancy.allowed == std::vector<std::string>{"x"});
  CHECK(declare(bed, {tenancy("a", 0x100)}).empty());
  CHECK(names(*bed.ledger) == "Default a");
}

TEST_CASE("what could not be put into place stays as it was, and only what differs is asked of") {
  Bed bed(none());
  std::string asked;
  const Declaring how{.possible = [&](const std::vector<fabric::Partition>& partitions) -> Status {
    asked += names(partitions) + ", ";
    for (const fabric::Partition& partition : partitions)
      if (partition.ipoib && partition.name != fabric::kDefaultName)
        return Error(Code::invalid, "no groups");
    return ok();
  }};
  CHECK(declare(bed, {tenancy("b", 0x101), tenancy("a", 0)}, how).empty());
  CHECK(asked == "Default b, Default a b, ");
  asked.clear();
  CHECK(declare(bed, {tenancy("a", 0), tenancy("b", 0x101, {"x"})}, how).empty());
  CHECK(asked.empty());
  CHECK(bed.ledger->partition("b")->tenancy.allowed == std::vector<std::string>{"x"});

  Tenancy b = tenancy("b", 0x101), c = tenancy("c", 0x102);
  b.ipoib = c.ipoib = true;
  CHECK(declare(bed, {b, c, tenancy("d", 0x103)}, how) == "b: no groups\nc: no groups\n");
  CHECK(names(*bed.ledger) == "Default b d");
  CHECK_FALSE(bed.ledger->partition("b")->tenancy.ipoib.has_value());
  CHECK(bed.ledger->partition("b")->tenancy.allowed == std::vector<std::string>{"x"});
}

TEST_CASE("partitions that a file has left are for requests again") {
  Bed bed({tenancy("mine", 0x100)});
  REQUIRE(declare(bed, {tenancy("a", 0x101), tenancy("b", 0x102)}).empty());
  CHECK(remove(bed, "a").error().code() == Code::denied);
  CHECK(bed.ledger->hand_over_declared().value() == std::vector<std::string>{"a", "b"});
  CHECK_FALSE(bed.ledger->partition("a")->declared);
  bed.commit();
  bed.start();
  CHECK(remove(bed, "a"));
  CHECK(update(bed, tenancy("b", 0)));
  CHECK(bed.ledger->hand_over_declared().value().empty());
}

}  // namespace
}  // namespace ibpod::sm
