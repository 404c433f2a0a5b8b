// OpenSM by itself opens the fabric at many a file; behind the engine at none.
//   PLACED=N  how many damaged files are put into the engine's place (50)
#include "tests/fabric/engine/bad_files.h"
#include "tests/fabric/engine/engine_bed.h"
#include "tests/fabric/engine/random_files.h"
#include "tests/fabric/engine/raw_opensm.h"

namespace ibpod {
namespace {

using sm::Health;
using sm::Standing;

const std::string kGood =
    "Default=0x7fff, indx0, ipoib : ALL=limited, SELF=full;\nold=0x20 : 0x0000000000100007=full;\n";

TEST_CASE("what OpenSM makes of bad files: it opens the fabric, reads something else, or ends") {
  RawOpenSm opensm;
  Subnet subnet;
  constexpr fabric::OpenSmOptions kOptions{true, false};
  size_t opened = 0;
  const auto files = bad_files();
  for (const BadFile& file : files) {
    CAPTURE(file.name);
    opensm.read(kGood);
    REQUIRE(!open_to_all(subnet.tables()));
    const auto marks = opensm.read(file.text);
    const auto tables = subnet.tables();
    const bool opens = file.effect == Effect::opens;
    if (opens) CHECK(open_to_all(tables));
    if (file.text && opens) CHECK(threw_away(marks));
    CHECK(marks.empty() == (file.effect == Effect::ends));
    if (!file.as.empty())
      CHECK(difference(fabric::read_partitions_conf(file.as, kOptions).value(), tables) == "");
    opened += opens;
    // None of them is a file for the reader.
    if (file.text) CHECK(!fabric::read_partitions_conf(*file.text, kOptions));
  }
  MESSAGE(files.size() << " bad files: OpenSM opens the fabric at " << opened);
}

TEST_CASE("behind the engine none of them opens the fabric for longer than a sweep") {
  EngineBed bed;
  Subnet subnet;
  bed.enforce({tenant(0x20, {full(3)})});
  const std::string ours = read_file(bed.paths().partitions).value();
  size_t open = 0;
  for (const BadFile& file : bad_files()) {
    CAPTURE(file.name);
    const uint64_t restores = bed.engine->standing().restores;
    bed.replace(file.text.value_or(""));
    bed.until([&](const Standing& now) {
      return now.restores > restores && now.swept == 1 && now.health == Health::serving;
    });
    CHECK(read_file(bed.paths().partitions).value() == ours);
    const auto tables = subnet.tables();
    open += open_to_all(tables);
    CHECK(difference(bed.wanted, tables) == "");
  }
  CHECK(open == 0);
}

TEST_CASE("a damaged file in its place does not stay there") {
  EngineBed bed;
  Subnet subnet;
  bed.enforce({tenant(0x20, {full(3)})});
  const std::string ours = read_file(bed.paths().partitions).value();
  RandomFiles random(setting("SEED", 1) + 2);
  const unsigned count = setting("PLACED", 50);
  unsigned open = 0;
  for (unsigned i = 0; i < count; ++i) {
    const uint64_t restores = bed.engine->standing().restores;
    std::string damaged = random.damaged(ours.substr(0, ours.find("\n# The admin")));
    CAPTURE(damaged);
    bed.replace(damaged);
    bed.until([&](const Standing& now) {
      return now.restores > restores && now.swept == 1 && now.health == Health::serving;
    });
    const auto tables = subnet.tables();
    open += open_to_all(tables);
    CHECK(difference(bed.wanted, tables) == "");
  }
  CHECK(open == 0);
  MESSAGE(count << " damaged files in place: the fabric is open behind " << open);
}

TEST_CASE("as the administrator's section none of them comes to OpenSM") {
  EngineBed bed;
  Subnet subnet;
  bed.enforce({tenant(0x20, {full(3)})});
  const std::string ours = read_file(bed.paths().partitions).value();
  for (const BadFile& file : bad_files()) {
    if (file.section.empty()) continue;
    CAPTURE(file.name);
    const uint64_t restores = bed.engine->standing().restores;
    bed.replace(ours + file.section);
    bed.until([&](const Standing& now) {
      return now.restores > restores && now.swept == 1 && now.health == Health::serving;
    });
    CHECK(!open_to_all(subnet.tables()));
  }
  CHECK(difference(bed.wanted, subnet.tables()) == "");
}

TEST_CASE("as partitions that are wanted none of them comes to OpenSM") {
  EngineBed bed;
  Subnet subnet;
  const auto before = std::vector{tenant(0x20, {full(3)})};
  bed.enforce(before);
  const auto expected = bed.wanted;
  const uint64_t hups = bed.engine->standing().hups;
  const fabric::Partition good = tenant(0x21, {full(3)});
  std::vector<fabric::Partition> wrong(8, good);
  wrong[0].name = "a : ALL=full;\nb";
  wrong[1].name = "";
  wrong[2].name = std::string(200, 'x');
  wrong[3].pkey = ib::PKey(0x8021);
  wrong[4].pkey = ib::PKey(0);
  wrong[5].pkey = fabric::kDefaultPKey;
  wrong[6].members = {{ib::Guid(0), fabric::Membership::full}};
  wrong[7].members = {full(3), limited(3)};
  for (const fabric::Partition& partition : wrong) {
    CHECK(!bed.engine->check({fabric::default_partition(), partition}));
    bed.want({partition});
    bed.until([](const Standing& now) { return now.health == Health::refused; });
  }
  CHECK(bed.engine->standing().hups == hups);
  CHECK(difference(expected, subnet.tables()) == "");
}

}  // namespace
}  // namespace ibpod
