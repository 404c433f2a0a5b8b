// OpenSM by itself opens the fabric at many a file; under the engine at none.
//   PLACED=N  how many damaged files are put into the place of the engine's, beside the bad ones
//   (100)
#include "tests/fabric/engine/bad_files.h"
#include "tests/fabric/engine/engine_fixture.h"
#include "tests/fabric/engine/random_files.h"
#include "tests/fabric/engine/raw_opensm.h"
#include "tests/fabric/engine/reader.h"

#include <csignal>

namespace ibpod {
namespace {

using sm::engine::EngineStatus;
using sm::engine::Health;

constexpr fabric::OpenSmOptions kBoth{.allow_both_pkeys = true, .qos = true};
const std::string kGood =
    "Default=0x7fff, indx0, ipoib : ALL=limited, SELF=full;\nold=0x20 : 0x0000000000100007=full;\n";

// The bad files, and PLACED damaged ones: those that readings_test.cc gives to OpenSM alone.
std::vector<std::optional<std::string>> all_files() {
  std::vector<std::optional<std::string>> files;
  for (BadFile& file : bad_files()) files.push_back(std::move(file.text));
  RandomFiles random(setting("SEED", 1U) + 1);
  for (unsigned count = setting("PLACED", 100U); count > 0; --count)
    files.emplace_back(random.damaged_file(kBoth).text);
  return files;
}

sm::opensm::OpenSmSettings settings_of(const fabric::OpenSmOptions& options) {
  sm::opensm::OpenSmSettings settings;
  settings.allow_both_pkeys = options.allow_both_pkeys;
  settings.qos = options.qos;
  return settings;
}

// Looks for an open fabric all the time.
class OpensmGuard {
 public:
  explicit OpensmGuard(Subnet& subnet) : reader_(subnet) {
    for (unsigned host = 0; host < kHosts; ++host) {
      if (host != kSmHost) reader_.expect(host, ib::kDefaultFull, false);
    }
  }
  // Tables, and those of them that were open.
  Reader::Sum end() { return reader_.end(); }

 private:
  Reader reader_;
};

TEST_CASE("what OpenSM makes of bad files: it opens the fabric, reads something else, or ends") {
  RawOpenSm opensm;
  Subnet subnet;
  constexpr fabric::OpenSmOptions kOptions{true, false};
  size_t open = 0;
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
    open += open_to_all(tables);
    // None of them is a file for the reader.
    if (file.text) CHECK(!fabric::read_partitions_conf(*file.text, kOptions));
  }
  MESSAGE(files.size() << " bad files: behind OpenSM alone the tables are open at " << open);
}

// OpenSM may read it in the moment before it is put back: nobody can prevent that. It does not
// last.
TEST_CASE("of what somebody puts in its place and has OpenSM read nothing is left in the tables") {
  EngineFixture fixture(kSmHost, settings_of(kBoth));
  Subnet subnet;
  fixture.enforce({tenant(0x20, {full(3)})});
  const std::string ours = read_file(fixture.paths().partitions).value();
  OpensmGuard guard(subnet);
  size_t told = 0, open = 0;
  const auto files = all_files();
  for (const auto& file : files) {
    CAPTURE(file.value_or("no file"));
    const EngineStatus before = fixture.engine->status();
    fixture.replace(file);
    ::kill(fixture.running(), SIGHUP);
    const EngineStatus now = fixture.until([&](const EngineStatus& is) {
      return is.restores > before.restores && is.swept == 1 && is.health == Health::serving;
    });
    told += now.fail_opens > before.fail_opens;
    CHECK(read_file(fixture.paths().partitions).value() == ours);
    const auto tables = subnet.tables();
    open += open_to_all(tables);
    CHECK(difference(fixture.definitions, tables) == "");
  }
  const Reader::Sum sum = guard.end();
  CHECK(open == 0);
  MESSAGE(files.size() << " files with somebody else's SIGHUP: OpenSM throws one away in passing "
                       << told << " times, " << sum.wrong << " of " << sum.judged
                       << " tables read meanwhile are open; in the end the fabric is open behind "
                       << open);
}

TEST_CASE("whatever is put in its place, what the engine has OpenSM read never opens the fabric") {
  EngineFixture fixture(kSmHost, settings_of(kBoth));
  Subnet subnet;
  fixture.enforce({});
  OpensmGuard guard(subnet);
  const auto files = all_files();
  for (size_t n = 0; n < files.size(); ++n) {
    CAPTURE(files[n].value_or("no file"));
    fixture.replace(files[n]);
    fixture.enforce({tenant(static_cast<uint16_t>(0x20 + n % 2), {full(3)})});
    CHECK(difference(fixture.definitions, subnet.tables()) == "");
  }
  const Reader::Sum sum = guard.end();
  CHECK(sum.wrong == 0);
  CHECK(sum.judged > 0);
  CHECK(fixture.engine->status().fail_opens == 0);
  MESSAGE(files.size() << " files beside wishes: " << sum.wrong << " of " << sum.judged
                       << " tables are open, OpenSM throws away "
                       << fixture.engine->status().fail_opens);
}

TEST_CASE("as the administrator's section none of them comes to OpenSM") {
  EngineFixture fixture;
  Subnet subnet;
  fixture.enforce({tenant(0x20, {full(3)})});
  const std::string ours = read_file(fixture.paths().partitions).value();
  for (const BadFile& file : bad_files()) {
    if (file.section.empty()) continue;
    CAPTURE(file.name);
    const uint64_t restores = fixture.engine->status().restores;
    fixture.replace(ours + file.section);
    fixture.until([&](const EngineStatus& now) {
      return now.restores > restores && now.swept == 1 && now.health == Health::serving;
    });
    CHECK(!open_to_all(subnet.tables()));
  }
  CHECK(difference(fixture.definitions, subnet.tables()) == "");
  CHECK(fixture.engine->status().fail_opens == 0);
}

TEST_CASE("as partitions that are wanted none of them comes to OpenSM") {
  EngineFixture fixture;
  Subnet subnet;
  const auto before = std::vector{tenant(0x20, {full(3)})};
  fixture.enforce(before);
  const auto expected = fixture.definitions;
  const uint64_t hups = fixture.engine->status().hups;
  const fabric::PartitionDefinition good = tenant(0x21, {full(3)});
  std::vector<fabric::PartitionDefinition> wrong(8, good);
  wrong[0].name = "a : ALL=full;\nb";
  wrong[1].name = "";
  wrong[2].name = std::string(200, 'x');
  wrong[3].pkey = ib::PKey(0x8021);
  wrong[4].pkey = ib::PKey(0);
  wrong[5].pkey = fabric::kDefaultPKey;
  wrong[6].members = {{ib::Guid(0), fabric::Membership::full}};
  wrong[7].members = {full(3), limited(3)};
  for (const fabric::PartitionDefinition& partition : wrong) {
    CHECK(!fixture.engine->check({fabric::default_definition(), partition}));
    fixture.set_definitions({partition});
    fixture.until([](const EngineStatus& now) { return now.health == Health::refused; });
  }
  CHECK(fixture.engine->status().hups == hups);
  CHECK(difference(expected, subnet.tables()) == "");
}

}  // namespace
}  // namespace ibpod
