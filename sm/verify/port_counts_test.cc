#include "sm/verify/port_counts.h"

#include "sm/verify/test_port_requests.h"

#include <doctest/doctest.h>

namespace ibpod::sm::verify {
namespace {

constexpr ib::PKey kBlue{0x8001}, kForeign{0x8009};

TEST_CASE("ports are counted by what is wrong with their tables, each kind by itself") {
  fabric::Topology::Contents contents;
  fabric::PartitionDefinition blue;
  blue.name = "blue";
  blue.pkey = ib::PKey(1);
  for (uint64_t guid = 1; guid <= 4; ++guid) {
    contents.ports.emplace_back().guid = ib::Guid(guid);
    blue.members.push_back({ib::Guid(guid), fabric::Membership::full});
  }
  PortObservations observations{std::nullopt};
  observations.record(std::make_shared<fabric::Topology>(std::move(contents)));
  const auto read = [&](uint64_t guid, const probe::TableOrError& table, uint64_t version = 2) {
    observations.record({.port = ib::Guid(guid), .table = table}, {version, version}, {});
  };
  read(1, ib::PKeyTable{kBlue});
  read(2, ib::PKeyTable{kForeign});
  read(3, ib::PKeyTable{kBlue, kForeign});
  read(4, probe::ProbeError{probe::ProbeFailure::timeout});
  FakePortRequests requests{ib::Guid(1)};
  requests.version = 2;
  const DesiredKeys desired({blue});
  CHECK(count_ports(observations, requests, desired) ==
        PortCounts{.ports = 4, .missing = 1, .foreign = 2, .unseen = 1});
  requests.version = 3;
  INFO("tables of an older version say nothing");
  CHECK(count_ports(observations, requests, desired) == PortCounts{.ports = 4, .unseen = 1});
}

}  // namespace
}  // namespace ibpod::sm::verify
