#include "sm/probe/probe_batches.h"

#include "lib/fabric/topology.h"

#include <doctest/doctest.h>

namespace ibpod::sm::probe {
namespace {

using namespace std::chrono_literals;

const ProbeBatch::Time kFirst{}, kSecond = kFirst + 1s;

struct Reports {
  std::vector<ProbeBatch> batches = {};
  ProbeBatches waiting{[this](ProbeBatch batch) { batches.push_back(std::move(batch)); }};
  ProbeBatches::TopologyPtr topology = std::make_shared<const fabric::Topology>();

  void add(ProbeBatch::Time begun, uint64_t port) {
    waiting.batch(begun, topology).ports.push_back({.port = ib::Guid(port)});
  }
};

TEST_CASE("results that began together are reported together, each once") {
  Reports reports;
  reports.add(kSecond, 1);
  reports.add(kFirst, 2);
  reports.add(kSecond, 3);
  reports.waiting.report(reports.topology, false);
  REQUIRE(reports.batches.size() == 2);
  CHECK(reports.batches[0].begun == kFirst);
  CHECK(reports.batches[0].ports.size() == 1);
  CHECK(reports.batches[1].ports.size() == 2);
  CHECK(reports.batches[1].topology == reports.topology);
  reports.waiting.report(reports.topology, false);
  CHECK(reports.batches.size() == 2);
}

TEST_CASE("a new topology is reported once: with results, by a scan, or alone if neither comes") {
  Reports reports;
  reports.waiting.topology_changed();
  reports.waiting.report(reports.topology, true);
  CHECK(reports.batches.empty());
  reports.waiting.report(reports.topology, false);
  REQUIRE(reports.batches.size() == 1);
  CHECK(reports.batches[0].ports.empty());
  CHECK(reports.batches[0].topology == reports.topology);

  reports.waiting.topology_changed();
  SUBCASE("by a scan") { reports.waiting.report_scan({}); }
  SUBCASE("with results") {
    reports.add(kFirst, 1);
    reports.waiting.report(reports.topology, false);
  }
  reports.waiting.report(reports.topology, false);
  CHECK(reports.batches.size() == 2);
}

}  // namespace
}  // namespace ibpod::sm::probe
