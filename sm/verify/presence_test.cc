#include "sm/verify/presence.h"

#include <doctest/doctest.h>

namespace ibpod::sm::verify {
namespace {

constexpr ib::Guid kVf{0x11}, kOther{0x12}, kSm{0x01};
constexpr ib::PKey kBlue{0x8001}, kRed{0x8002}, kGreen{0x8003};
const VersionHistory::Time kNow{std::chrono::seconds(1000)};

struct Subnet {
  // A full scan that finds these ports.
  void scan(const std::vector<ib::Guid>& ports, bool is_complete = true) {
    fabric::Topology::Contents contents;
    for (const ib::Guid guid : ports) contents.ports.emplace_back().guid = guid;
    contents.unanswered_count = is_complete ? 0 : 1;
    observations.record(std::make_shared<fabric::Topology>(std::move(contents)));
    observations.set_last_scan(kNow);
  }
  void read(const probe::TableOrError& table, const ib::PKeyTable& of_switch = {}) {
    probe::ProbeResult result{.port = kVf, .table = table};
    if (!of_switch.empty()) result.switch_port = {.table = of_switch};
    observations.record(result, {1, 1}, kNow);
  }
  void report(const ib::PKeyTable& table) {
    REQUIRE(observations.record("n1", kVf, {.table = table, .at = kNow}, 100));
  }

  PortObservations observations{kSm};
};

TEST_CASE_FIXTURE(Subnet, "a port is absent only if a complete scan of our subnet lacks it") {
  CHECK_FALSE(is_absent(observations, kVf));
  scan({kSm});
  CHECK(is_absent(observations, kVf));
  CHECK_FALSE(is_absent(observations, kSm));
  scan({kSm}, false);
  CHECK_FALSE(is_absent(observations, kVf));
  scan({kOther});
  CHECK_FALSE_MESSAGE(is_absent(observations, kVf), "the scan is of another subnet");
}

TEST_CASE_FIXTURE(Subnet, "a port may be present until a scan, and its node, say otherwise") {
  CHECK(may_be_present(observations, kVf));
  scan({kSm, kVf});
  CHECK(may_be_present(observations, kVf));
  scan({kSm});
  CHECK_FALSE(may_be_present(observations, kVf));
  SUBCASE("its node reports it") { report({}); }
  SUBCASE("the scan is incomplete") { scan({kSm}, false); }
  SUBCASE("the scan is of another subnet") { scan({kOther}); }
  CHECK(may_be_present(observations, kVf));
}

TEST_CASE_FIXTURE(Subnet, "a topology without a full scan shows no absence") {
  fabric::Topology::Contents contents;
  contents.ports.emplace_back().guid = kSm;
  observations.record(std::make_shared<fabric::Topology>(std::move(contents)));
  CHECK(is_absent(observations, kVf));
  CHECK(may_be_present(observations, kVf));
}

TEST_CASE_FIXTURE(Subnet, "a port is silent if neither it nor its node shows a table") {
  CHECK(is_silent(observations, kVf));
  SUBCASE("it does not answer") {
    read(probe::ProbeError{probe::ProbeFailure::timeout});
    CHECK(is_silent(observations, kVf));
    report({});
    CHECK_FALSE(is_silent(observations, kVf));
  }
  SUBCASE("it answers") {
    read(ib::PKeyTable{});
    CHECK_FALSE(is_silent(observations, kVf));
    CHECK(is_silent(observations, kOther));
  }
}

TEST_CASE_FIXTURE(Subnet, "a key counts as held if any reading shows it, limited or full") {
  CHECK_FALSE(is_known_to_hold(observations, kVf, kBlue));
  read(ib::PKeyTable{ib::PKey(), kBlue}, {kRed});
  CHECK(is_known_to_hold(observations, kVf, kBlue));
  CHECK(is_known_to_hold(observations, kVf, ib::PKey(0x0001)));
  CHECK_MESSAGE(is_known_to_hold(observations, kVf, kRed), "the switch port lets it pass");
  CHECK_FALSE(is_known_to_hold(observations, kVf, kGreen));
  CHECK_FALSE(is_known_to_hold(observations, kOther, kBlue));
  report({kGreen});
  CHECK(is_known_to_hold(observations, kVf, kGreen));
  CHECK(is_known_to_hold(observations, kVf, kBlue));
  read(probe::ProbeError{probe::ProbeFailure::timeout});
  CHECK_FALSE(is_known_to_hold(observations, kVf, kBlue));
}

TEST_CASE_FIXTURE(Subnet, "a subnet without the subnet manager's port is named as wrong") {
  scan({kOther}, false);
  CHECK_MESSAGE(wrong_subnet(observations).empty(), "an incomplete scan may lack it");
  scan({kOther});
  CHECK(wrong_subnet(observations).find(kSm.text()) != std::string::npos);
  scan({kOther, kSm});
  CHECK(wrong_subnet(observations).empty());
  PortObservations unknown{std::nullopt};
  CHECK(wrong_subnet(unknown).empty());
}

}  // namespace
}  // namespace ibpod::sm::verify
