// Seeded runs: whatever partitions there are, what is written of them reads back the same; and of a
// file that was damaged either nothing is read, or what is in it. SEED=n repeats a run, RUNS=n says
// how many.
#include "lib/fabric/partitions_conf.h"
#include "lib/fabric/partitions_conf_writer.h"
#include "lib/fabric/test_partitions.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include <doctest/doctest.h>

namespace ibpod::fabric {
namespace {

using test::RandomPartitions;

constexpr uint32_t kRuns = 200;
constexpr int kDamages = 20;
constexpr OpenSmOptions kAll{true, true};

uint32_t number_in(const char* variable, uint32_t otherwise) {
  const char* given = std::getenv(variable);
  return given != nullptr ? static_cast<uint32_t>(std::stoul(given)) : otherwise;
}

void run_all(const char* what, const std::function<void(uint32_t seed)>& run) {
  const uint32_t first = number_in("SEED", std::random_device()());
  const uint32_t runs = number_in("RUNS", kRuns);
  std::printf("%s: %u runs from seed %u\n", what, runs, first);
  for (uint32_t i = 0; i < runs; ++i) {
    CAPTURE(first + i);
    run(first + i);
  }
}

std::string text_of_all(const std::vector<PartitionDefinition>& definitions) {
  std::string text;
  for (const PartitionDefinition& definition : definitions) text += text_of(definition);
  return text;
}

// One byte changed, lost, or one more; or some lines lost, or twice, or the end.
std::string damaged(std::string text, RandomPartitions& random) {
  constexpr std::string_view kBytes = ",;:=# \t\n0xAfl1\r";
  const auto size = static_cast<uint32_t>(text.size());
  const size_t at = random.below(size), length = 1 + random.below(80);
  const char byte = kBytes[random.below(kBytes.size())];
  switch (random.below(6)) {
    case 0:
      text[at] = byte;
      break;
    case 1:
      text.erase(at, 1);
      break;
    case 2:
      text.insert(at, 1, byte);
      break;
    case 3:
      text.erase(at, length);
      break;
    case 4:
      text.insert(at, text.substr(random.below(size), length));
      break;
    default:
      text.resize(at);
  }
  return text;
}

TEST_CASE("partitions read back as they were written, beside an administrator's") {
  run_all("partitions", [](uint32_t seed) {
    RandomPartitions random(seed);
    const std::vector<PartitionDefinition> definitions = random.some();
    const std::vector<PartitionDefinition> foreign = random.others(random.below(3));
    const std::string manual = "# theirs\n" + text_of_all(foreign) + "#";
    const auto text = render(definitions, manual, kAll);
    if (!text) FAIL(text.error().text());
    const std::vector<PartitionDefinition> read = read_partitions_conf(*text, kAll).value();
    REQUIRE(read.size() == definitions.size() + foreign.size());
    CHECK(read.front().pkey == kDefaultPKey);
    for (const PartitionDefinition& definition : definitions)
      CHECK(std::count(read.begin(), read.end(), definition) == 1);
    CHECK(std::equal(foreign.begin(), foreign.end(),
                     read.end() - static_cast<ptrdiff_t>(foreign.size())));
    CHECK(manual_section(*text) == manual);
  });
}

TEST_CASE(
    "a damaged file is refused, or is read as what is now in it, and never judged the same if it "
    "is not") {
  run_all("damaged files", [](uint32_t seed) {
    RandomPartitions random(seed);
    const std::vector<PartitionDefinition> definitions = random.some();
    const std::string text = render(definitions, "", kAll).value();
    const std::vector<PartitionDefinition> before = read_partitions_conf(text, kAll).value();
    for (int i = 0; i < kDamages; ++i) {
      const std::string other = damaged(text, random);
      CAPTURE(other);
      const auto read = read_partitions_conf(other, kAll);
      const bool judged = verify_text(other, definitions, "", kAll).ok();
      if (judged) CHECK(read.value() == before);
      if (read) CHECK(read_partitions_conf(text_of_all(*read), kAll).value() == *read);
    }
  });
}

}  // namespace
}  // namespace ibpod::fabric
