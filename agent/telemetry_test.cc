#include "agent/telemetry.h"

#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::agent {
namespace {

struct Bed {
  TempFolder folder;
  Path file = folder.path() / "log";
  log::Log log{log::Level::info};
  Report report{log};
  Bed() { log.open(file).value(); }
  // How many lines of the log have that text.
  size_t logged(const std::string& text) const {
    const std::string all = read_file(file).value();
    size_t count = 0;
    for (size_t at = all.find(text); at != all.npos; at = all.find(text, at + 1)) ++count;
    return count;
  }
  bool shows(const std::string& line) {
    return ("\n" + report.metrics().text()).find("\n" + line + "\n") != std::string::npos;
  }
};

Preparation with(const std::vector<std::string>& problems) {
  Preparation preparation;
  for (const std::string& text : problems)
    preparation.problems.emplace_back(Code::unavailable, text);
  return preparation;
}

TEST_CASE("what could not be prepared is counted by PF, and logged once for as long as it is so") {
  Bed bed;
  const std::string of_pf = "0000:3b:00.0: it has no IPoIB interface";
  const std::string of_entry = "pfs[1]: it chooses no PF of this node";
  const std::vector<std::string> both{of_pf, of_entry};
  CHECK(bed.report.prepared(with(both)) == both);
  CHECK(bed.report.prepared(with(both)) == both);
  CHECK(bed.logged(of_pf) == 1);
  CHECK(bed.shows("ibpod_preparation_errors{pf=\"0000:3b:00.0\"} 1"));
  CHECK(bed.shows("ibpod_preparation_errors{pf=\"\"} 1"));
  CHECK(bed.report.prepared(with({})).empty());
  CHECK_FALSE(bed.shows("ibpod_preparation_errors{pf=\"0000:3b:00.0\"} 1"));
  (void)bed.report.prepared(with({of_pf}));
  CHECK(bed.logged(of_pf) == 2);
}

TEST_CASE("a pool that takes no device is a line of the log, once for as long as it is so") {
  Bed bed;
  const std::string line = "example.com/ib_vfs: its pool takes no device of this node";
  View empty;
  empty.stocks.resize(2);
  empty.stocks[0].pool.prefix = empty.stocks[1].pool.prefix = "example.com";
  empty.stocks[0].pool.name = "ib_vfs";
  empty.stocks[1].pool.name = "gpus";
  empty.stocks[1].pool.kind = device_plugin::Kind::foreign;
  View full = empty;
  full.stocks[0].offers.emplace_back().id = "0000:3b:00.1";
  bed.report.seen({}, full);
  CHECK(bed.logged("takes no device") == 0);
  bed.report.seen(full, empty);
  bed.report.seen(empty, empty);
  CHECK(bed.logged(line) == 1);
  CHECK(bed.logged("example.com/gpus") == 0);
  bed.report.seen(empty, full);
  bed.report.seen(full, empty);
  CHECK(bed.logged(line) == 2);
}

TEST_CASE("the RDMA namespace mode is a metric, and a line when it becomes another") {
  Bed bed;
  const RdmaModeVerdict good = judge(RdmaNetns::exclusive, nl::RdmaNetnsMode::exclusive);
  const RdmaModeVerdict bad = judge(RdmaNetns::exclusive, nl::RdmaNetnsMode::shared);
  bed.report.rdma_mode("exclusive", good);
  CHECK(bed.shows("ibpod_rdma_netns_as_wanted{wanted=\"exclusive\",mode=\"exclusive\"} 1"));
  bed.report.rdma_mode("exclusive", bad);
  bed.report.rdma_mode("exclusive", bad);
  CHECK(bed.shows("ibpod_rdma_netns_as_wanted{wanted=\"exclusive\",mode=\"shared\"} 0"));
  CHECK(bed.logged("shared") == 1);
}

TEST_CASE("the configuration of the start is a good one, until a file is refused") {
  Bed bed;
  bed.report.configured();
  CHECK(bed.shows("ibpod_config_good 1"));
  bed.report.reloaded({Reload::Kind::refused, {"cdi: got 7"}, {}, {}});
  CHECK(bed.shows("ibpod_config_good 0"));
  bed.report.reloaded({});
  CHECK(bed.shows("ibpod_config_good 0"));
  CHECK(bed.logged("the last good one stays: cdi: got 7") == 1);
}

TEST_CASE("what is wrong for longer is logged once, and when it is well again") {
  Bed bed;
  for (int i = 0; i < 3; ++i)
    bed.report.trouble("inventory", Error(Code::unavailable, "VFs are being made"));
  CHECK(bed.logged("inventory: VFs are being made") == 1);
  bed.report.trouble("inventory", ok());
  bed.report.trouble("inventory", ok());
  CHECK(bed.logged("inventory: well again") == 1);
}

TEST_CASE(
    "IPoIB children without a record are a line, and what keeps them is one until it changes") {
  Bed bed;
  Pass pass;
  bed.report.swept(pass);
  CHECK(bed.logged("IPoIB children") == 0);
  pass.strays = {"eth0", "eth1"};
  bed.report.swept(pass);
  CHECK(bed.logged("IPoIB children without a record: eth0, eth1: removed") == 1);
  pass.strays_failure = "busy";
  bed.report.swept(pass);
  bed.report.swept(pass);
  CHECK(bed.logged("IPoIB children without a record: eth0, eth1: busy") == 1);
}

TEST_CASE("addresses that are owed to IPAM are a line each until they are given back") {
  Bed bed;
  Pass pass;
  pass.owed = {{{"c1", "net1", "1f"}, false, "IPAM hangs"}};
  bed.report.swept(pass);
  bed.report.swept(pass);
  CHECK(bed.logged("addresses of c1:net1/1f: still owed to IPAM: IPAM hangs") == 1);
  pass.owed = {{{"c1", "net1", "1f"}, true, ""}};
  bed.report.swept(pass);
  CHECK(bed.logged("addresses of c1:net1/1f: given back to IPAM") == 1);
}

}  // namespace
}  // namespace ibpod::agent
