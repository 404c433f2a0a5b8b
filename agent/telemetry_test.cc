#include "agent/telemetry.h"

#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::agent {
namespace {

struct Fixture {
  TempFolder folder;
  Path file = folder.path() / "log";
  log::Log log{log::Level::info};
  Telemetry telemetry{log};
  Fixture() { log.open(file).value(); }
  // How many lines of the log have that text.
  size_t logged(const std::string& text) const {
    const std::string all = read_file(file).value();
    size_t count = 0;
    for (size_t at = all.find(text); at != all.npos; at = all.find(text, at + 1)) ++count;
    return count;
  }
  bool shows(const std::string& line) {
    return ("\n" + telemetry.metrics().text()).find("\n" + line + "\n") != std::string::npos;
  }
};

prepare::PrepareResult with(const std::vector<std::string>& problems) {
  prepare::PrepareResult preparation;
  for (const std::string& text : problems)
    preparation.problems.emplace_back(Code::unavailable, text);
  return preparation;
}

TEST_CASE("what could not be prepared is counted by PF, and logged once for as long as it is so") {
  Fixture fixture;
  const std::string of_pf = "0000:3b:00.0: it has no IPoIB interface";
  const std::string of_entry = "pfs[1]: it selects no PF of this node";
  const std::vector<std::string> both{of_pf, of_entry};
  CHECK(fixture.telemetry.report_preparation(with(both)) == both);
  CHECK(fixture.telemetry.report_preparation(with(both)) == both);
  CHECK(fixture.logged(of_pf) == 1);
  CHECK(fixture.shows("ibpod_preparation_errors{pf=\"0000:3b:00.0\"} 1"));
  CHECK(fixture.shows("ibpod_preparation_errors{pf=\"\"} 1"));
  CHECK(fixture.telemetry.report_preparation(with({})).empty());
  CHECK_FALSE(fixture.shows("ibpod_preparation_errors{pf=\"0000:3b:00.0\"} 1"));
  (void)fixture.telemetry.report_preparation(with({of_pf}));
  CHECK(fixture.logged(of_pf) == 2);
}

TEST_CASE("a pool that takes no device is a line of the log, once for as long as it is so") {
  Fixture fixture;
  const std::string line = "example.com/ib_vfs: its pool takes no device of this node";
  snapshot::Snapshot empty;
  empty.pool_contents.resize(2);
  empty.pool_contents[0].pool.prefix = empty.pool_contents[1].pool.prefix = "example.com";
  empty.pool_contents[0].pool.name = "ib_vfs";
  empty.pool_contents[1].pool.name = "gpus";
  empty.pool_contents[1].pool.kind = device_plugin::PoolKind::foreign;
  snapshot::Snapshot full = empty;
  full.pool_contents[0].devices.emplace_back().id = "0000:3b:00.1";
  fixture.telemetry.report_changes({}, full);
  CHECK(fixture.logged("takes no device") == 0);
  fixture.telemetry.report_changes(full, empty);
  fixture.telemetry.report_changes(empty, empty);
  CHECK(fixture.logged(line) == 1);
  CHECK(fixture.logged("example.com/gpus") == 0);
  fixture.telemetry.report_changes(empty, full);
  fixture.telemetry.report_changes(full, empty);
  CHECK(fixture.logged(line) == 2);
}

TEST_CASE("the RDMA namespace mode is a metric, and a line when it becomes another") {
  Fixture fixture;
  const prepare::RdmaModeStatus good =
      prepare::evaluate(prepare::RdmaNetns::exclusive, nl::RdmaNetnsMode::exclusive);
  const prepare::RdmaModeStatus bad =
      prepare::evaluate(prepare::RdmaNetns::exclusive, nl::RdmaNetnsMode::shared);
  fixture.telemetry.report_rdma_mode("exclusive", good);
  CHECK(fixture.shows("ibpod_rdma_netns_as_wanted{wanted=\"exclusive\",mode=\"exclusive\"} 1"));
  fixture.telemetry.report_rdma_mode("exclusive", bad);
  fixture.telemetry.report_rdma_mode("exclusive", bad);
  CHECK(fixture.shows("ibpod_rdma_netns_as_wanted{wanted=\"exclusive\",mode=\"shared\"} 0"));
  CHECK(fixture.logged("shared") == 1);
}

TEST_CASE("the configuration of the start is a good one, until a file is refused") {
  Fixture fixture;
  fixture.telemetry.report_configured();
  CHECK(fixture.shows("ibpod_config_good 1"));
  fixture.telemetry.report_reload({config::Reload::Kind::refused, {"cdi: got 7"}, {}, {}});
  CHECK(fixture.shows("ibpod_config_good 0"));
  fixture.telemetry.report_reload({});
  CHECK(fixture.shows("ibpod_config_good 0"));
  CHECK(fixture.logged("the last good one stays in force: cdi: got 7") == 1);
}

TEST_CASE("a lasting fault is logged once, and its recovery too") {
  Fixture fixture;
  for (int i = 0; i < 3; ++i)
    fixture.telemetry.report_condition("inventory", Error(Code::unavailable, "VFs are being made"));
  CHECK(fixture.logged("inventory: VFs are being made") == 1);
  fixture.telemetry.report_condition("inventory", ok());
  fixture.telemetry.report_condition("inventory", ok());
  CHECK(fixture.logged("inventory: resolved") == 1);
}

TEST_CASE(
    "IPoIB children without a record are a line, and what keeps them is one until it changes") {
  Fixture fixture;
  gc::GcRun gc_run;
  fixture.telemetry.report_gc(gc_run);
  CHECK(fixture.logged("IPoIB children") == 0);
  gc_run.strays = {"eth0", "eth1"};
  fixture.telemetry.report_gc(gc_run);
  CHECK(fixture.logged("IPoIB children without a record: eth0, eth1: removed") == 1);
  gc_run.strays_failure = "busy";
  fixture.telemetry.report_gc(gc_run);
  fixture.telemetry.report_gc(gc_run);
  CHECK(fixture.logged("IPoIB children without a record: eth0, eth1: busy") == 1);
}

TEST_CASE("addresses that IPAM has not released are a line each until they are given back") {
  Fixture fixture;
  gc::GcRun gc_run;
  gc_run.address_releases = {{{"c1", "net1", "1f"}, false, "IPAM hangs"}};
  fixture.telemetry.report_gc(gc_run);
  fixture.telemetry.report_gc(gc_run);
  CHECK(fixture.logged("addresses of c1:net1/1f: not released by IPAM: IPAM hangs") == 1);
  gc_run.address_releases = {{{"c1", "net1", "1f"}, true, ""}};
  fixture.telemetry.report_gc(gc_run);
  CHECK(fixture.logged("addresses of c1:net1/1f: released by IPAM") == 1);
}

}  // namespace
}  // namespace ibpod::agent
