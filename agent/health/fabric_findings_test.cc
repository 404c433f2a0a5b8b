#include "agent/health/node_findings.h"

#include <doctest/doctest.h>

namespace ibpod::agent::health {
namespace {

using device_plugin::BindFault;
using device_plugin::Device;

Device vf(unsigned number, std::optional<BindFault> fault) {
  Device device;
  device.address = ib::PciAddress::parse("0000:3b:00." + std::to_string(number)).value();
  device.pf = ib::PciAddress::parse("0000:3b:00.0").value();
  device.bind_fault = std::move(fault);
  return device;
}

snapshot::Snapshot with(const std::vector<Device>& devices, bool device_ref = true) {
  snapshot::Snapshot snapshot;
  snapshot.devices = devices;
  if (!device_ref) return snapshot;
  device_plugin::Pool& pool = snapshot.pools.emplace_back();
  pool.name = "vfs";
  device_plugin::PoolContents contents{snapshot.pools.front(), {}};
  for (const Device& device : devices)
    contents.devices.push_back({device.address.text(), device, 0, ""});
  snapshot.pool_contents = {contents};
  return snapshot;
}

TEST_CASE("what cannot be bound is a finding, of a PF once, and with what to do") {
  const BindFault subnet{BindFault::Kind::subnet, "PF 0000:3b:00.0 is on another subnet"};
  const snapshot::Snapshot snapshot =
      with({vf(1, subnet), vf(2, subnet), vf(3, {}),
            vf(4, BindFault{BindFault::Kind::guid, "port 4 is not known"}),
            vf(5, BindFault{BindFault::Kind::service, "not reached"}),
            vf(6, BindFault{BindFault::Kind::certificate, "expired"})});
  for (const bool device_ref : {true, false}) {
    const auto findings = device_findings(with(snapshot.devices, device_ref), {}, {});
    REQUIRE(findings.size() == 2);
    CHECK(findings[0].finding.subject == "0000:3b:00.0");
    CHECK(findings[0].finding.text.ends_with("PF 0000:3b:00.0 is on another subnet"));
    CHECK(findings[0].finding.remedy.find("subnetPrefix") != std::string::npos);
    CHECK(findings[1].finding.subject == "0000:3b:00.4");
    CHECK(findings[1].finding.remedy.find("nodes.NODE.guids") != std::string::npos);
  }
}

TEST_CASE("a service that refuses the node is reached, and its remedy is another one") {
  sm_client::SmStatus away, refuses;
  away.error = "it does not answer";
  refuses.error = "two machines use the name of node n1";
  refuses.refused = true;
  const auto findings = service_findings({{"east", away}, {"west", refuses}}, {});
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].finding.text ==
        "the SM service of fabric east cannot be reached: it does not answer");
  CHECK(findings[0].finding.remedy.starts_with("check that ibpod-sm runs there"));
  CHECK(findings[1].finding.text ==
        "the SM service of fabric west refuses this node: two machines use the name of node n1");
  CHECK(findings[1].finding.remedy.starts_with("check the node's name and certificate"));
}

TEST_CASE("what no pod is given is no finding, a PF of tickets names its own key") {
  Device pf = vf(0, BindFault{BindFault::Kind::guid, "port 0 is not known"});
  pf.pf.reset();
  CHECK(device_findings(with({pf}, false), {}, {}).empty());
  const auto findings = device_findings(with({pf}), {}, {});
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].finding.remedy.find("nodes.NODE.pfs") != std::string::npos);
  snapshot::Snapshot other = with({vf(1, BindFault{BindFault::Kind::guid, "port 1 is not known"})});
  other.pool_contents.clear();
  CHECK(device_findings(other, {}, {}).empty());
}

TEST_CASE("a certificate that cannot be used is named with its file, why, and what to do") {
  const Error expired(Code::invalid, "/t/tls.crt: expired at 2026-11-26T23:03:52Z");
  const Error before(Code::invalid, "the previous certificate stays in use: /t/tls.key: none");
  const auto findings = certificate_findings({{"east", {"/t/tls.crt", ok(), ok(), {}}},
                                              {"north", {"/t/tls.crt", before, ok(), {}}},
                                              {"west", {"/t/tls.crt", before, expired, {}}}});
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].finding.text ==
        "cannot use this node's certificate for the SM service of fabric north: the "
        "previous certificate stays in use: /t/tls.key: none");
  CHECK(findings[1].finding.text ==
        "cannot use this node's certificate for the SM service of fabric west: /t/tls.crt: "
        "expired at 2026-11-26T23:03:52Z");
  CHECK(findings[1].finding.remedy.find("replace /t/tls.crt") != std::string::npos);
  CHECK(findings[1].finding.remedy.find("date -u") != std::string::npos);
  const Error gone(Code::unavailable, "/t/token: no such file");
  const auto token = certificate_findings({{"east", {"/t/token", gone, gone, {}, true}}});
  REQUIRE(token.size() == 1);
  CHECK(token[0].finding.text ==
        "cannot use this node's token for the SM service of fabric east: /t/token: no such file");
  CHECK(token[0].finding.remedy.starts_with("check the projected volume"));
}

}  // namespace
}  // namespace ibpod::agent::health
