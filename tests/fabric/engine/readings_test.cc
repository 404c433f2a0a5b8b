// OpenSM reads every file that our reader accepts in the same way, and opens the fabric at many of
// the others: compared by the tables, file after file.
//   FILES=N    how many random files (100)
//   DAMAGED=N  how many damaged ones (500)
#include "tests/fabric/engine/random_files.h"
#include "tests/fabric/engine/raw_opensm.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

using fabric::PartitionDefinition;

constexpr fabric::OpenSmOptions kOptions{true, true};

// Index 0 has the key that asks for it, else the default one; of `both` the limited one.
std::string wrong_index0(const std::vector<PartitionDefinition>& partitions,
                         const std::vector<ib::PKeyTable>& tables) {
  std::string text;
  for (unsigned host = 0; host < kHosts; ++host) {
    std::vector<ib::PKey> wanted;
    for (const PartitionDefinition& partition : partitions) {
      if (!fabric::takes_index0(partition, port_of(host))) continue;
      wanted = {fabric::keys_of({partition}, port_of(host)).front()};
    }
    if (wanted.empty() || tables[host].at(0) == wanted[0]) continue;
    text += "h" + std::to_string(host) + ": " + ib::text(tables[host]) + ", expected " +
            wanted[0].text() + " at 0\n";
  }
  return text;
}

class Reading {
 public:
  Reading() : opensm_(with_qos()) {}
  void of(const std::string& text) {
    marks_ = opensm_.read(text);
    tables_ = subnet_.tables();
  }
  bool ended() const { return marks_.empty(); }
  bool opened(const std::vector<PartitionDefinition>& meant) const {
    return open_to_all(tables_, meant);
  }
  // The difference to the tables of an OpenSM that has read these; empty: none.
  std::string difference_to(const std::vector<PartitionDefinition>& partitions) const {
    if (ended()) return "OpenSM has ended";
    if (threw_away(marks_)) return "OpenSM has thrown it away";
    return difference(partitions, tables_) + wrong_index0(partitions, tables_);
  }

 private:
  static sm::opensm::OpenSmSettings with_qos() {
    sm::opensm::OpenSmSettings settings;
    settings.allow_both_pkeys = settings.qos = true;
    return settings;
  }
  RawOpenSm opensm_;
  Subnet subnet_;
  std::vector<sm::opensm::LogMark> marks_;
  std::vector<ib::PKeyTable> tables_;
};

TEST_CASE("random files are in the tables as they were meant") {
  RandomFiles random(setting("SEED", 1U));
  Reading reading;
  const unsigned count = setting("FILES", 100U);
  for (unsigned i = 0; i < count; ++i) {
    const auto partitions = random.partitions();
    const auto text = fabric::render(partitions, "", kOptions);
    if (!text) FAIL(text.error().text());
    CAPTURE(i);
    CAPTURE(*text);
    reading.of(*text);
    CHECK(reading.difference_to(partitions) == "");
  }
  MESSAGE(count << " random files");
}

TEST_CASE(
    "at many a damaged file OpenSM opens the fabric; what our reader takes it reads as that") {
  RandomFiles random(setting("SEED", 1U) + 1);
  // Damage makes any port a full member of the default partition: OpenSM is not kept for so long
  // that it would lose such a key.
  constexpr unsigned kOneOpenSm = 30;
  std::unique_ptr<Reading> reading;
  const unsigned count = setting("DAMAGED", 500U);
  unsigned taken = 0, open = 0, ended = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (i % kOneOpenSm == 0) {
      reading.reset();
      reading = std::make_unique<Reading>();
    }
    const auto [meant, text] = random.damaged_file(kOptions);
    reading->of(text);
    ended += reading->ended();
    open += reading->opened(meant);
    const auto partitions = fabric::read_partitions_conf(text, kOptions);
    if (!partitions) continue;
    ++taken;
    CAPTURE(i);
    CAPTURE(text);
    CHECK(reading->difference_to(*partitions) == "");
  }
  MESSAGE(count << " damaged files: behind OpenSM alone the tables are open at " << open
                << ", and it ends at " << ended << "; our reader takes " << taken
                << ", and OpenSM reads each of them in the same way");
  CHECK(taken > 0);
  CHECK(open > 0);
}

}  // namespace
}  // namespace ibpod
