// Partitions that a file declares.
#include "lib/base/join.h"
#include "tests/support/registry_fixture.h"

namespace ibpod::sm::partitions {
namespace {

using namespace test;

using fabric::StaticMember;

Result<fabric::PartitionStatus> update(Fixture& bed, const Partition& partition) {
  return bed.registry->partitions.update(partition, bed.now);
}
Result<fabric::PartitionStatus> remove(Fixture& bed, const std::string& name) {
  return bed.registry->partitions.remove(name);
}

std::string names(const std::vector<fabric::PartitionDefinition>& definitions) {
  return join(definitions, " ", &fabric::PartitionDefinition::name);
}
std::string names(const Registries& registry) {
  return names(*registry.partitions.view().definitions());
}

std::string declare(Fixture& bed, const std::vector<Partition>& partitions,
                    const DeclareOptions& how = {}) {
  std::string refused;
  for (const DeclarationError& one :
       bed.registry->partitions.declarations().declare(partitions, bed.now, how).value())
    refused += one.name + ": " + one.error.text() + "\n";
  bed.commit();
  return refused;
}

TEST_CASE("declared partitions come, change and go with their file, and are read-only otherwise") {
  Fixture bed({make_partition("mine", 0x100), make_partition("both", 0x101)});
  CHECK(declare(bed, {make_partition("a", 0x102), make_partition("b", 0),
                      make_partition("both", 0x101, {"x"})})
            .empty());
  CHECK(names(*bed.registry) == "Default a b both mine");
  CHECK(bed.registry->partitions.view().find("both")->declared);
  CHECK(bed.registry->partitions.view().find("both")->spec.allowed ==
        std::vector<std::string>{"x"});
  CHECK_FALSE(bed.registry->partitions.view().find("mine")->declared);
  CHECK(update(bed, make_partition("a", 0)).error().code() == Code::denied);
  CHECK(remove(bed, "a").error().code() == Code::denied);
  bed.start();
  CHECK(remove(bed, "both").error().code() == Code::denied);
  const uint64_t version = bed.registry->journal.version();
  CHECK(declare(bed, {make_partition("a", 0x102), make_partition("b", 0),
                      make_partition("both", 0x101, {"x"})})
            .empty());
  CHECK(bed.registry->journal.version() == version);
  CHECK(declare(bed, {make_partition("a", 0x102)}).empty());
  CHECK(names(*bed.registry) == "Default a mine");
  bed.settle();
  CHECK(declare(bed, {}).empty());
  bed.settle();
  CHECK(names(*bed.registry) == "Default mine");
}

TEST_CASE("each error of the file is reported by itself, and the rest is applied") {
  Fixture bed(none());
  REQUIRE(declare(bed, {make_partition("used", 0x100), make_partition("kept", 0x101)}).empty());
  bed.bind(request("n1", "a", vf(1), {{"used", kLimited}}));
  const std::string refused =
      declare(bed, {make_partition("kept", 0x102), make_partition("out", 0x300),
                    make_partition("twice", 0x103), make_partition("twice", 0x104),
                    make_partition("bad name", 0x105), make_partition("good", 0x106)});
  CHECK(refused ==
        "used: 1 binding still uses it; list them with `ibpodctl binding list --partition used`\n"
        "twice: it is declared twice\n"
        "kept: pkey: cannot be changed (it is 0x0101)\n"
        "out: P_Key 0x0300 is in no range of \"pkeys\" whose \"use\" is \"explicit\" "
        "(0x0100-0x01ff)\n"
        "bad name: name: \"bad name\" is not a partition name: expected 1 to 31 letters, digits "
        "and \"._-\"\n");
  CHECK(names(*bed.registry) == "Default good kept twice used");
  CHECK(bed.registry->partitions.view().find("kept")->spec.pkey == ib::PKey(0x101));
  CHECK(bed.registry->partitions.view().find("kept")->declared);
  CHECK(bed.registry->partitions.view().find("used")->declared);
}

TEST_CASE("declarations may stand in any order") {
  Partition a = make_partition("a", 0x100), b = make_partition("b", 0x101);
  a.index0 = b.index0 = true;
  b.members = {{storage(1), kFull, ""}};
  Fixture bed(none());
  REQUIRE(declare(bed, {a, b}).empty());
  std::swap(a.members, b.members);
  CHECK(declare(bed, {a, b}).empty());
  CHECK(bed.keys(storage(1)) == "0x8100");
}

TEST_CASE("a partition that is declared again while it is being deleted has to wait") {
  Fixture bed(none());
  REQUIRE(declare(bed, {make_partition("a", 0x100)}).empty());
  bed.settle();
  REQUIRE(declare(bed, {}).empty());
  CHECK_FALSE(declare(bed, {make_partition("a", 0x100)}).empty());
  bed.settle();
  CHECK(declare(bed, {make_partition("a", 0x100)}).empty());
}

TEST_CASE("of a file that may mean more than it names nothing is removed") {
  Fixture bed(none());
  REQUIRE(declare(bed, {make_partition("a", 0x100), make_partition("b", 0x101)}).empty());
  CHECK(declare(bed, {make_partition("a", 0x100, {"x"}), make_partition("c", 0x102)},
                {.complete = false})
            .empty());
  CHECK(names(*bed.registry) == "Default a b c");
  CHECK(bed.registry->partitions.view().find("b")->declared);
  CHECK(bed.registry->partitions.view().find("a")->spec.allowed == std::vector<std::string>{"x"});
  CHECK(declare(bed, {make_partition("a", 0x100)}).empty());
  CHECK(names(*bed.registry) == "Default a");
}

TEST_CASE("what could not be put into place stays as it was, and only what differs is asked of") {
  Fixture bed(none());
  std::string asked;
  const DeclareOptions how{
      .check = [&](const std::vector<fabric::PartitionDefinition>& definitions) -> Status {
        asked += names(definitions) + ", ";
        for (const fabric::PartitionDefinition& definition : definitions)
          if (definition.ipoib && definition.name != fabric::kDefaultName)
            return Error(Code::invalid, "no groups");
        return ok();
      }};
  CHECK(declare(bed, {make_partition("b", 0x101), make_partition("a", 0)}, how).empty());
  CHECK(asked == "Default b, Default a b, ");
  asked.clear();
  CHECK(declare(bed, {make_partition("a", 0), make_partition("b", 0x101, {"x"})}, how).empty());
  CHECK(asked.empty());
  CHECK(bed.registry->partitions.view().find("b")->spec.allowed == std::vector<std::string>{"x"});

  Partition b = make_partition("b", 0x101), c = make_partition("c", 0x102);
  b.ipoib = c.ipoib = true;
  CHECK(declare(bed, {b, c, make_partition("d", 0x103)}, how) == "b: no groups\nc: no groups\n");
  CHECK(names(*bed.registry) == "Default b d");
  CHECK_FALSE(bed.registry->partitions.view().find("b")->spec.ipoib.has_value());
  CHECK(bed.registry->partitions.view().find("b")->spec.allowed == std::vector<std::string>{"x"});
}

TEST_CASE("partitions that a file has left are for requests again") {
  Fixture bed({make_partition("mine", 0x100)});
  REQUIRE(declare(bed, {make_partition("a", 0x101), make_partition("b", 0x102)}).empty());
  CHECK(remove(bed, "a").error().code() == Code::denied);
  CHECK(bed.registry->partitions.declarations().release().value() ==
        std::vector<std::string>{"a", "b"});
  CHECK_FALSE(bed.registry->partitions.view().find("a")->declared);
  bed.commit();
  bed.start();
  CHECK(remove(bed, "a"));
  CHECK(update(bed, make_partition("b", 0)));
  CHECK(bed.registry->partitions.declarations().release().value().empty());
}

}  // namespace
}  // namespace ibpod::sm::partitions
