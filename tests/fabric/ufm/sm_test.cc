// ibpod-sm with a UFM: over HTTPS into fake_ufm, through the partitions.conf of a real OpenSM, into
// the tables of a simulated subnet, which ibpod-sm reads.
#include "lib/ib/hex.h"
#include "tests/fabric/engine/raw_opensm.h"
#include "tests/fabric/sm/sm_fixture.h"
#include "tests/fabric/ufm/process/ufm_process.h"

#include <algorithm>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

constexpr ib::PKey kBlue{0x8001};
constexpr unsigned kHost = 1, kOther = 2;

struct Ufm {
  RawOpenSm opensm;
  UfmProcess ufm{
      {.partitions = opensm.partitions(), .opensm = opensm.pid(), .ports = {guid_of(kHost)}}};
};

// UFM before ibpod-sm.
struct Fixture : Ufm, SmFixture {
  Fixture() : SmFixture({.hosts = kHosts - 1, .ufm = ufm.section()}) { create_partition("blue"); }

  bool holds(unsigned host, ib::PKey key) {
    const ib::PKeyTable keys = table(host);
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  }
  std::string engine() const {
    const auto health = client().health(deadline_in());
    return health ? health->engine() : health.error().text();
  }
  // The texts and remedies of the doctor's findings.
  std::string findings() const {
    std::string text;
    const auto health = client().health(deadline_in());
    REQUIRE(health);
    for (const auto& finding : health->findings())
      text += finding.subject() + ": " + finding.text() + "; " + finding.remedy() + "\n";
    return text;
  }
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

TEST_CASE_FIXTURE(Fixture, "a key is there when a Bind is answered, and gone when an Unbind is") {
  CHECK(bind(kHost, "blue") == "verified");
  CHECK(holds(kHost, kBlue));
  CHECK_FALSE(holds(kOther, kBlue));
  CHECK(has(ufm.partitions(), "0x1"));
  CHECK(unbind(kHost) == "released");
  CHECK_FALSE(holds(kHost, kBlue));
  CHECK(metric("ibpod_sm_ufm_calls_total{operation=\"add\",result=\"done\"}") == 1);
  CHECK(metric("ibpod_sm_ufm_calls_total{operation=\"remove\",result=\"done\"}") == 1);
  CHECK(metric("ibpod_sm_ufm_call_seconds_count{operation=\"partitions\"}") >= 1);
  CHECK(metric("ibpod_sm_change_seconds_count{version=\"placed\"}") >= 2);
  CHECK(metric("ibpod_sm_subnet_manager{health=\"serving\"}") == 1);
}

TEST_CASE_FIXTURE(Fixture, "stored in UFM is not in force: the Bind waits for the port's table") {
  CHECK(bind(kOther, "blue") == "verified");
  ufm.set("effect", R"({"delay": "never"})");
  CHECK(bind(kHost, "blue", "c1", Duration(3000)) != "verified");
  CHECK_FALSE(holds(kHost, kBlue));
  CHECK(metric("ibpod_sm_bindings{state=\"verified\"") == 1);
  ufm.set("effect", R"({"delay": 0})");
  CHECK(bind(kHost, "blue") == "verified");
  CHECK(holds(kHost, kBlue));
}

TEST_CASE_FIXTURE(Fixture, "the doctor speaks of UFM: its settings, and members of others") {
  until([this] { return metric("ibpod_sm_ufm_calls_total{operation=\"vports\"") >= 1; });
  for (const char* clean : {"release", "no_right", "per_port_m_key", "no_port", "unread_setting",
                            "default_rule", "foreign_member"}) {
    CAPTURE(clean);
    CHECK(metric("ibpod_sm_weaknesses{kind=\"" + std::string(clean) + "\"}") == 0);
  }
  CHECK(has(findings(), "because UFM configures its OpenSM"));
  CHECK_FALSE(has(findings(), "ibpod-sm's log and OpenSM's"));
  CHECK(bind(kHost, "blue") == "verified");
  ufm.call(R"({"operation": "post", "pkey": "0x1", "guids": [")" +
           ib::hex(guid_of(kOther).value(), 16) + "\"]}");
  until([this] { return metric("ibpod_sm_ufm_foreign_members") == 1; });
  until([this] { return has(findings(), "that ibpod-sm did not put there"); });
  CHECK(metric("ibpod_sm_weaknesses{kind=\"foreign_member\"}") == 1);
  CHECK(has(engine(), "serving"));
}

TEST_CASE_FIXTURE(Fixture,
                  "without UFM running pods keep their keys, and all goes on when it is back") {
  CHECK(bind(kHost, "blue") == "verified");
  ufm.set("serving", R"({"on": false})");
  until([this] { return engine().starts_with("gone"); });
  CHECK(has(findings(), "UFM does not answer"));
  CHECK(has(findings(), "check ibpod-sm's log and UFM's"));
  CHECK(holds(kHost, kBlue));
  CHECK(page("/readyz").find(" 503 ") != std::string::npos);
  ufm.set("serving", R"({"on": true})");
  until_healthy();
  CHECK(bind(kOther, "blue") == "verified");
  // A new process finds what the last one has put into UFM.
  kill();
  start();
  until([this] { return all_verified(); });
  CHECK(holds(kHost, kBlue));
  CHECK(unbind(kHost) == "released");
  CHECK_FALSE(holds(kHost, kBlue));
  CHECK(holds(kOther, kBlue));
}

}  // namespace
}  // namespace ibpod
