// ibpod-sm with a UFM: over HTTPS into fake_ufm, through the partitions.conf of a real OpenSM, into
// the tables of a simulated subnet, which ibpod-sm reads.
#include "lib/ib/hex.h"
#include "tests/fabric/engine/raw_opensm.h"
#include "tests/fabric/sm/sm_fixture.h"
#include "tests/support/in_time.h"
#include "tests/support/test_ca.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>
#include <httplib.h>

namespace ibpod {
namespace {

constexpr ib::PKey kBlue{0x8001};
constexpr unsigned kHost = 1, kOther = 2;

class Ufm {
 public:
  Ufm() : process_(start_ufm()) {
    const std::string ready = ready_line();
    tls_port_ = port_in(ready, "tls");
    control_port_ = port_in(ready, "control");
  }

  // The section of ibpod-sm's configuration.
  std::string section() const {
    return R"("addresses": ["https://127.0.0.1:)" + std::to_string(tls_port_) +
           R"("], "user": "ibpod", "passwordFile": ")" + (folder_.path() / "password").string() +
           R"(", "caFile": ")" + (folder_.path() / "ca.crt").string() +
           R"(", "readSeconds": 5, "effectSeconds": 1)";
  }
  void set(const std::string& what, const std::string& body) {
    const auto answer = control().Put("/stand-in/" + what, body, "application/json");
    REQUIRE(answer);
    CHECK(answer->status == 200);
  }
  // As another administrator.
  void call(const std::string& body) {
    const auto answer = control().Post("/stand-in/calls", body, "application/json");
    REQUIRE(answer);
    CHECK(answer->status == 200);
  }
  std::string partitions() { return control().Get("/stand-in/partitions")->body; }

  RawOpenSm opensm;

 private:
  httplib::Client control() const { return httplib::Client("127.0.0.1", control_port_); }

  Background start_ufm() {
    const TestCa ca;
    const auto issued = ca.issue({.common_name = "ufm", .names = {"IP:127.0.0.1"}});
    folder_.write("ca.crt", ca.certificate());
    folder_.write("tls.crt", issued.certificate);
    folder_.write("tls.key", issued.key);
    const Path password = folder_.write("password", "5ec7e7\n");
    std::filesystem::permissions(password, std::filesystem::perms::owner_read);
    folder_.write("pid", std::to_string(opensm.pid()));
    const std::string here = folder_.path().string();
    folder_.write("config", R"({"control": "127.0.0.1:0", "tls": {"listen": "127.0.0.1:0",
      "certificate": ")" + here +
                                R"(/tls.crt", "key": ")" + here + R"(/tls.key"},
      "users": [{"name": "ibpod", "password": "5ec7e7"}],
      "rest": {"version": "6.23.1-6", "default_membership": "limited", "m_key_per_port": false},
      "ports": [{"guid": ")" + ib::hex(guid_of(kHost).value(), 16) +
                                R"(", "system": "n1"}],
      "partitions_file": ")" + opensm.partitions().string() +
                                R"(",
      "opensm_pid_file": ")" + here +
                                "/pid\"}");
    auto started =
        Background::start({.words = {"sh", "-c", "exec " IBPOD_FAKE_UFM " config >ready"},
                           .folder = folder_.path(),
                           .environment = {{"LD_PRELOAD", ""}, {"ASAN_OPTIONS", ""}}});
    if (!started) FAIL(started.error().text());
    return std::move(started).value();
  }
  std::string ready_line() const {
    std::string line;
    CHECK(in_time([&] {
      const auto ready = read_file(folder_.path() / "ready");
      line = ready ? *ready : "";
      return line.ends_with("\n");
    }));
    return line;
  }
  // "fake_ufm is ready: tls=127.0.0.1:1234 control=127.0.0.1:1235"
  static int port_in(const std::string& line, const std::string& what) {
    const std::string before = what + "=127.0.0.1:";
    const size_t at = line.find(before);
    REQUIRE(at != line.npos);
    return std::atoi(line.c_str() + at + before.size());
  }

  TempFolder folder_;
  Background process_;
  int tls_port_ = 0, control_port_ = 0;
};

// UFM before ibpod-sm.
struct Fixture : Ufm, SmFixture {
  Fixture() : SmFixture({.hosts = kHosts - 1, .ufm = section()}) { create_partition("blue"); }

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
  CHECK(has(partitions(), "0x1"));
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
  set("effect", R"({"delay": "never"})");
  CHECK(bind(kHost, "blue", "c1", Duration(3000)) != "verified");
  CHECK_FALSE(holds(kHost, kBlue));
  CHECK(metric("ibpod_sm_bindings{state=\"verified\"") == 1);
  set("effect", R"({"delay": 0})");
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
  call(R"({"operation": "post", "pkey": "0x1", "guids": [")" +
       ib::hex(guid_of(kOther).value(), 16) + "\"]}");
  until([this] { return metric("ibpod_sm_ufm_foreign_members") == 1; });
  until([this] { return has(findings(), "that ibpod-sm did not put there"); });
  CHECK(metric("ibpod_sm_weaknesses{kind=\"foreign_member\"}") == 1);
  CHECK(has(engine(), "serving"));
}

TEST_CASE_FIXTURE(Fixture,
                  "without UFM running pods keep their keys, and all goes on when it is back") {
  CHECK(bind(kHost, "blue") == "verified");
  set("serving", R"({"on": false})");
  until([this] { return engine().starts_with("gone"); });
  CHECK(has(findings(), "UFM does not answer"));
  CHECK(has(findings(), "check ibpod-sm's log and UFM's"));
  CHECK(holds(kHost, kBlue));
  CHECK(page("/readyz").find(" 503 ") != std::string::npos);
  set("serving", R"({"on": true})");
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
