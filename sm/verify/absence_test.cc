// The rules for a port that is not on the subnet, one by one.
#include "sm/verify/absence.h"

#include "sm/verify/test_port_requests.h"

#include <doctest/doctest.h>

namespace ibpod::sm::verify {
namespace {

using fabric::Reason;

constexpr ib::Guid kVf{0x11}, kPf{0x10}, kOther{0x12}, kSm{0x01};

VersionHistory::Time at(int seconds) { return VersionHistory::Time(std::chrono::seconds(seconds)); }

// Version 1 was swept at 10, and a complete scan at 20 has found kSm and kPf, not kVf, whose
// released binding asks for nothing special.
struct Absent {
  Absent() {
    requests.binding.pf_guid = kPf;
    requests.binding.state = fabric::BindingState::releasing;
    status.placed = status.swept = 1;
    engine.update(status, capabilities, at(10));
    for (const ib::Guid guid : {kSm, kPf}) ports[guid].guid = guid;
    scan();
  }
  void scan(int seconds = 20, bool is_complete = true) {
    fabric::Topology::Contents contents;
    for (const auto& [guid, port] : ports) contents.ports.push_back(port);
    contents.unanswered_count = is_complete ? 0 : 1;
    observations.record(std::make_shared<fabric::Topology>(std::move(contents)));
    observations.set_last_scan(at(seconds));
  }
  void can(const engine::Capabilities& what) {
    capabilities = what;
    engine.update(status, capabilities, at(11));
  }
  Absence absence(Reason reason = Reason::port_unknown) const {
    return classify_absence(kVf, reason, {observations, requests, engine});
  }
  fabric::Condition explained(Reason reason = Reason::port_unknown) const {
    return explain_absence(kVf, {reason, "text"}, {observations, requests, engine});
  }

  FakePortRequests requests{kVf};
  engine::EngineStatus status;
  engine::Capabilities capabilities{.writes = true};
  EngineProgress engine{"e"};
  std::map<ib::Guid, fabric::Port> ports;
  PortObservations observations{kSm};
};

TEST_CASE_FIXTURE(Absent, "an absent port has none of the keys that it was given since") {
  CHECK(absence() == Absence::holds_none_new);
  CHECK_MESSAGE(absence(Reason::timeout) == Absence::holds_none_new, "whatever the reason is");
  SUBCASE("the scan is older than the sweep") { scan(9); }
  SUBCASE("the keys have changed since the sweep") { requests.version = 2; }
  SUBCASE("the scan is incomplete") { scan(20, false); }
  SUBCASE("the scan has found it") {
    ports[kVf].guid = kVf;
    scan();
  }
  SUBCASE("the subnet is another one") {
    ports.erase(kSm);
    scan();
  }
  SUBCASE("another subnet manager writes the tables") { can({}); }
  SUBCASE("there are virtual ports, which no scan finds") {
    ports[kOther].virtualized = true;
    scan();
  }
  CHECK(absence() == Absence::nothing);
}

TEST_CASE_FIXTURE(Absent, "without proof, absent ports count as having their keys") {
  requests.no_proof = true;
  CHECK(absence() == Absence::needs_no_proof);
  SUBCASE("another reason than its absence") {
    CHECK(absence(Reason::timeout) == Absence::holds_none_new);
  }
  SUBCASE("no binding: a static member") {
    requests.bound = false;
    CHECK(absence() == Absence::needs_no_proof);
  }
  SUBCASE("its node reports it") {
    REQUIRE(observations.record("n1", kVf, {.table = {}, .at = at(20)}, 10));
    CHECK(absence() == Absence::holds_none_new);
  }
  SUBCASE("no scan since the sweep") {
    scan(9);
    CHECK(absence() == Absence::nothing);
  }
  SUBCASE("its PF is not on the subnet: it may be a virtual port") {
    requests.binding.pf_guid = kOther;
    CHECK(absence() == Absence::holds_none_new);
  }
  SUBCASE("a child interface") {
    requests.binding.kind = fabric::Kind::child;
    CHECK(absence() == Absence::holds_none_new);
  }
}

TEST_CASE_FIXTURE(Absent, "the released bindings of a node that is being forgotten end") {
  requests.forgetting = true;
  can({});
  CHECK(absence() == Absence::holds_no_key);
  SUBCASE("a scan before the sweep is enough") {
    scan(9);
    CHECK(absence() == Absence::holds_no_key);
  }
  SUBCASE("not without a binding") {
    requests.bound = false;
    CHECK(absence() == Absence::nothing);
  }
  SUBCASE("not before a sweep with the change") {
    requests.version = 2;
    CHECK(absence() == Absence::nothing);
  }
  SUBCASE("not if another reason hides the port") {
    CHECK(absence(Reason::timeout) == Absence::nothing);
  }
  SUBCASE("a virtual port, whose PF is there") {
    ports[kPf].virtualized = true;
    scan();
    CHECK(absence() == Absence::nothing);
    requests.binding.kind = fabric::Kind::child;
    CHECK(absence() == Absence::holds_no_key);
  }
  SUBCASE("a port whose PF is absent, too") {
    requests.binding.pf_guid = kOther;
    CHECK(absence() == Absence::holds_no_key);
  }
  SUBCASE("a port whose PF is not known") {
    requests.binding.pf_guid = {};
    CHECK(absence() == Absence::holds_no_key);
    ports[kOther].virtualized = true;
    scan();
    CHECK_MESSAGE(absence() == Absence::nothing, "it may be a virtual port of that one");
  }
}

TEST_CASE_FIXTURE(Absent, "a GUID that a pod has requested ends with the pod") {
  requests.binding.guid_requested = true;
  can({});
  CHECK(absence() == Absence::holds_no_key);
  SUBCASE("the pod still runs") { requests.binding.state = fabric::BindingState::written; }
  SUBCASE("it is the VF's own GUID") { requests.binding.guid_requested = false; }
  SUBCASE("no scan since the sweep") { scan(9); }
  SUBCASE("it may be a virtual port") {
    ports[kPf].virtualized = true;
    scan();
  }
  SUBCASE("its node reports it") {
    REQUIRE(observations.record("n1", kVf, {.table = {}, .at = at(20)}, 10));
  }
  SUBCASE("no binding") { requests.bound = false; }
  CHECK(absence() == Absence::nothing);
}

TEST_CASE_FIXTURE(Absent, "the condition names the cause of the absence") {
  CHECK(explained() == fabric::Condition{Reason::port_unknown, "text"});
  SUBCASE("it was on the subnet before") {
    ports[kVf].guid = kVf;
    scan();
    ports.erase(kVf);
    scan();
    CHECK(explained().reason == Reason::port_down);
    CHECK(explained(Reason::timeout) == fabric::Condition{Reason::timeout, "text"});
  }
  SUBCASE("it is a virtual port") {
    ports[kPf].virtualized = true;
    scan();
    CHECK(explained().reason == Reason::vport);
    CHECK(explained().text.find("does not serve virtual ports") != std::string::npos);
    can({.serves_vports = true});
    CHECK(explained().reason == Reason::vport);
    CHECK(explained().text.find("the node has not reported it") != std::string::npos);
    CHECK(explained(Reason::timeout) == fabric::Condition{Reason::timeout, "text"});
    requests.binding.kind = fabric::Kind::child;
    CHECK(explained().reason == Reason::port_unknown);
  }
}

}  // namespace
}  // namespace ibpod::sm::verify
