// What our reader takes, OpenSM reads in the same way: seen in the tables, file after file.
//   FILES=N    how many random files (100)
//   DAMAGED=N  how many damaged ones (500)
#include "tests/fabric/engine/random_files.h"
#include "tests/fabric/engine/raw_opensm.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

using fabric::Partition;

constexpr fabric::OpenSmOptions kOptions{true, true};

// Index 0 has the key that asks for it, else the default one; of `both` the limited one.
std::string wrong_index0(const std::vector<Partition>& partitions,
                         const std::vector<ib::PKeyTable>& tables) {
  std::string text;
  for (unsigned host = 0; host < kHosts; ++host) {
    std::vector<ib::PKey> wanted;
    for (const Partition& partition : partitions) {
      const auto keys = fabric::keys_of({partition}, port_of(host));
      if (partition.index0 && !keys.empty()) wanted = {keys.front()};
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
  // OpenSM has read the file as these, or what differs.
  std::string difference_of(const std::string& text, const std::vector<Partition>& partitions) {
    const auto marks = opensm_.read(text);
    if (marks.empty()) return "OpenSM has ended";
    if (threw_away(marks)) return "OpenSM has thrown it away";
    const auto tables = subnet_.tables();
    return difference(partitions, tables) + wrong_index0(partitions, tables);
  }

 private:
  static sm::OpenSmSettings with_qos() {
    sm::OpenSmSettings settings;
    settings.qos = true;
    return settings;
  }
  RawOpenSm opensm_;
  Subnet subnet_;
};

TEST_CASE("random files are in the tables as they were meant") {
  RandomFiles random(setting("SEED", 1));
  Reading reading;
  const unsigned count = setting("FILES", 100);
  for (unsigned i = 0; i < count; ++i) {
    const auto partitions = random.partitions();
    const auto text = fabric::render(partitions, "", kOptions);
    if (!text) FAIL(text.error().text());
    CAPTURE(i);
    CAPTURE(*text);
    CHECK(reading.difference_of(*text, partitions) == "");
  }
  MESSAGE(count << " random files");
}

TEST_CASE("damaged files that our reader takes are in the tables as it reads them") {
  RandomFiles random(setting("SEED", 1) + 1);
  // Damage makes any port a full member of the default partition: OpenSM is not kept for so long
  // that it would lose such a key.
  auto reading = std::make_unique<Reading>();
  const unsigned count = setting("DAMAGED", 500);
  unsigned taken = 0;
  for (unsigned i = 0; i < count; ++i) {
    const std::string good = fabric::render(random.partitions(), "", kOptions).value();
    const std::string text = random.damaged(good.substr(good.find("\n\n") + 2));
    const auto partitions = fabric::read_partitions_conf(text, kOptions);
    if (!partitions) continue;
    if (++taken % 30 == 0) {
      reading.reset();
      reading = std::make_unique<Reading>();
    }
    CAPTURE(i);
    CAPTURE(text);
    CHECK(reading->difference_of(text, *partitions) == "");
  }
  MESSAGE(count << " damaged files: our reader takes " << taken
                << ", and OpenSM reads each of them in the same way");
  CHECK(taken > 0);
}

}  // namespace
}  // namespace ibpod
