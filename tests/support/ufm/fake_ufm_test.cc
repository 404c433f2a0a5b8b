#include "tests/support/ufm/fake_ufm.h"

#include "tests/support/in_time.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_ca.h"

#include <future>
#include <regex>

#include <doctest/doctest.h>
#include <httplib.h>

namespace ibpod::fake_ufm {
namespace {

constexpr const char* kVersion = "/ufmRest/app/ufm_version";
constexpr const char* kPKeys = "/ufmRest/resources/pkeys";
constexpr const char* kBody = R"({"pkey":"0x5","guids":["00000000000000ab"]})";

// A UFM with TLS and without, and clients of it.
class Fixture {
 public:
  Fixture() {
    folder.write("ca.pem", ca.certificate());
    write_certificate("client", "ibpod-sm", ca);
    Config config;
    config.tls = TlsListening{{.host = "127.0.0.1", .port = 0, .socket = {}}, server_files(ca)};
    config.plain = http::Address{.host = "127.0.0.1", .port = 0, .socket = {}};
    config.control = http::Address{.host = "127.0.0.1", .port = 0, .socket = {}};
    config.users = {{"admin", "123456"}};
    config.tokens = {{"raw-token", "admin"}};
    config.certificates = {{"ibpod-sm", "admin"}};
    ufm = FakeUfm::start(config).value();
  }

  TlsFiles server_files(const TestCa& issuer) const {
    const auto issued = issuer.issue({.common_name = "ufm", .names = {"IP:127.0.0.1"}});
    return {issued.certificate, issued.key, ca.certificate()};
  }
  void write_certificate(const std::string& name, const std::string& common_name,
                         const TestCa& issuer) {
    const auto issued = issuer.issue({.common_name = common_name});
    folder.write(name + ".pem", issued.certificate);
    folder.write(name + ".key", issued.key);
  }

  std::unique_ptr<httplib::SSLClient> client(const std::string& certificate = {}) {
    const std::string file = (folder.path() / certificate).string();
    auto client = std::make_unique<httplib::SSLClient>("127.0.0.1", ufm->tls_address()->port,
                                                       certificate.empty() ? "" : file + ".pem",
                                                       certificate.empty() ? "" : file + ".key");
    client->set_ca_cert_path((folder.path() / "ca.pem").c_str());
    client->enable_server_certificate_verification(true);
    if (certificate.empty()) client->set_basic_auth("admin", "123456");
    return client;
  }
  std::unique_ptr<httplib::Client> plain() {
    auto client = std::make_unique<httplib::Client>("127.0.0.1", ufm->plain_address()->port);
    client->set_basic_auth("admin", "123456");
    return client;
  }
  size_t members() {
    const Partitions partitions = ufm->ufm().partitions();
    const auto found = partitions.find(ib::PKey(5));
    return found == partitions.end() ? 0 : found->second.members.size();
  }

  TestCa ca;
  TempFolder folder;
  std::unique_ptr<FakeUfm> ufm;
};

TEST_CASE_FIXTURE(Fixture, "a password, a token and a certificate, each over TLS") {
  CHECK(client()->Get(kVersion)->status == 200);
  const httplib::Headers header{{"Authorization", "Basic raw-token"}};
  httplib::SSLClient bare("127.0.0.1", ufm->tls_address()->port);
  bare.enable_server_certificate_verification(false);
  CHECK(bare.Get("/ufmRestV3/app/ufm_version", header)->status == 200);
  CHECK(bare.Get(kVersion)->status == 401);
  CHECK(client("client")->Get(kVersion)->status == 200);
  CHECK(client("client")->Get("/ufmRestV2/app/ufm_version")->status == 200);
  ufm->accounts().expire_tokens();
  CHECK(bare.Get("/ufmRestV3/app/ufm_version", header)->status == 401);
}

TEST_CASE_FIXTURE(Fixture, "a certificate of a stranger, and one of another authority") {
  write_certificate("stranger", "stranger", ca);
  CHECK(client("stranger")->Get(kVersion)->status == 401);
  write_certificate("forged", "ibpod-sm", TestCa());
  const auto forged = client("forged")->Get(kVersion);
  CHECK((!forged || forged->status == 401));
}

TEST_CASE_FIXTURE(Fixture, "several requests on one connection, and long ones") {
  auto kept = plain();
  kept->set_keep_alive(true);
  for (int i = 0; i < 5; ++i) CHECK(kept->Get(kVersion)->status == 200);
  CHECK(kept->Post(kPKeys, kBody, "application/json")->status == 200);
  std::string path = std::string(kPKeys) + "/0x5/guids/00000000000000ab";
  for (int i = 1; i < 400; ++i) path += ",0000000000000" + std::to_string(100 + i);
  CHECK(kept->Delete(path)->status == 200);
  CHECK(members() == 0);
}

TEST_CASE_FIXTURE(Fixture, "several requests on one TLS connection") {
  auto kept = client();
  kept->set_keep_alive(true);
  for (int i = 0; i < 5; ++i) CHECK(kept->Get(kVersion)->status == 200);
}

TEST_CASE_FIXTURE(Fixture, "an answer that is lost: the change is made, the connection reset") {
  for (int tls = 0; tls < 2; ++tls) {
    CAPTURE(tls);
    ufm->ufm().set_partitions({});
    ufm->ufm().inject({.kind = FaultKind::lose_answer});
    const auto lost = tls == 1 ? client()->Post(kPKeys, kBody, "application/json")
                               : plain()->Post(kPKeys, kBody, "application/json");
    CHECK_FALSE(lost);
    CHECK(members() == 1);
    CHECK(ufm->ufm().log().back().delivery == Delivery::reset);
  }
}

TEST_CASE_FIXTURE(Fixture, "a hanging call ends with the client's timeout, or with the server") {
  ufm->ufm().inject({.kind = FaultKind::hang_after});
  auto hasty = plain();
  hasty->set_read_timeout(0, 50'000);
  CHECK_FALSE(hasty->Post(kPKeys, kBody, "application/json"));
  CHECK(in_time([&] { return members() == 1; }));

  ufm->ufm().inject({.kind = FaultKind::hang});
  auto hanging = std::async(std::launch::async, [&] { return client()->Get(kVersion); });
  CHECK(in_time([&] {
    const auto log = ufm->ufm().log();
    return !log.empty() && log.back().delivery == Delivery::never;
  }));
  ufm->stop_serving();
  CHECK_FALSE(hanging.get());
}

TEST_CASE_FIXTURE(Fixture, "slow, cut and foreign answers") {
  ufm->ufm().inject({.kind = FaultKind::slow, .delay = std::chrono::milliseconds(30)});
  const auto begin = std::chrono::steady_clock::now();
  CHECK(client()->Get(kVersion)->status == 200);
  CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(30));
  ufm->ufm().inject({.kind = FaultKind::truncate});
  CHECK(client()->Get(kVersion)->body == R"({"ufm_release_ver)");
  ufm->ufm().inject({.kind = FaultKind::html});
  const auto page = client()->Get(kVersion);
  CHECK(page->status == 503);
  CHECK(page->get_header_value("Content-Type") == "text/html");
  CHECK(page->has_header("Date"));
}

TEST_CASE_FIXTURE(Fixture, "a UFM that restarts has the same addresses, state and log") {
  REQUIRE(plain()->Post(kPKeys, kBody, "application/json")->status == 200);
  ufm->stop_serving();
  CHECK(plain()->Get(kVersion).error() == httplib::Error::Connection);
  CHECK_FALSE(client()->Get(kVersion));
  REQUIRE(ufm->serve());
  CHECK(plain()->Get(kVersion)->status == 200);
  CHECK(client()->Get(kVersion)->status == 200);
  CHECK(members() == 1);
  CHECK(ufm->ufm().log().size() == 3);
}

TEST_CASE_FIXTURE(Fixture, "a changed certificate meets clients that are connected, too") {
  auto kept = client();
  kept->set_keep_alive(true);
  REQUIRE(kept->Get(kVersion)->status == 200);
  const TestCa other;
  CHECK_FALSE(ufm->change_certificate({"damaged", "damaged"}));
  CHECK(kept->Get(kVersion)->status == 200);
  REQUIRE(ufm->change_certificate(server_files(other)));
  CHECK_FALSE(kept->Get(kVersion));
  REQUIRE(ufm->change_certificate(server_files(ca)));
  CHECK(kept->Get(kVersion)->status == 200);
}

TEST_CASE_FIXTURE(Fixture, "the control path: switches, faults, another administrator, the log") {
  httplib::Client control("127.0.0.1", ufm->control_address()->port);
  const auto send = [&](const std::string& path, const std::string& body) {
    return control.Post("/stand-in/" + path, body, "application/json");
  };
  CHECK(control.Put("/stand-in/switches", R"({"missing_is_404":false})", "application/json")
            ->status == 200);
  CHECK_FALSE(ufm->ufm().switches().missing_is_404);
  CHECK(control
            .Put("/stand-in/rest", R"({"upper_case":true,"plain_list":"map"})", "application/json")
            ->status == 200);
  CHECK(ufm->rest().settings().plain_list == PlainList::map);
  CHECK(control.Get("/stand-in/rest")->body.find(R"("plain_list":"map")") != std::string::npos);

  CHECK(send("calls", R"({"operation":"post","pkey":"0x5","guids":["00000000000000cd"]})")->body ==
        "{\"status\":200,\"text\":\"\"}\n");
  CHECK(members() == 1);
  CHECK(control.Get("/stand-in/partitions")->body.find("00000000000000cd") != std::string::npos);
  CHECK(
      send("faults", R"({"kind":"refuse","status":503,"operations":["list"],"times":0})")->status ==
      200);
  CHECK(plain()->Get(kPKeys)->status == 503);
  CHECK(control.Delete("/stand-in/faults")->status == 200);
  CHECK(plain()->Get(kPKeys)->status == 200);
  // The time of a call is not known before.
  const std::regex time(R"("monotonic_us":[1-9][0-9]*,)");
  CHECK(std::regex_replace(control.Get("/stand-in/log?since=2")->body, time, "") ==
        R"([{"caller":"admin","operation":"list","pkey":"0x0","guids":[],)"
        R"("path":"GET /ufmRest/resources/pkeys","status":200,"delivery":"whole",)"
        R"("changed":false}])");
  CHECK(control.Get("/stand-in/log")->body.starts_with(R"([{"caller":"administrator")"));
  CHECK(send("lose_writes", R"({"count":3})")->body == "{\"lost\":1}\n");
  CHECK(members() == 0);

  CHECK(control
            .Put("/stand-in/ports", R"([{"guid":"00000000000000ab","system":"n1"}])",
                 "application/json")
            ->status == 200);
  CHECK(ufm->inventory().known() == std::set<ib::Guid>{ib::Guid(0xab)});
  CHECK(control.Put("/stand-in/serving", R"({"on":false})", "application/json")->status == 200);
  CHECK_FALSE(plain()->Get(kVersion));
  CHECK(control.Put("/stand-in/serving", R"({"on":true})", "application/json")->status == 200);
  CHECK(plain()->Get(kVersion)->status == 200);
}

TEST_CASE_FIXTURE(Fixture, "the control path refuses what it does not know") {
  httplib::Client control("127.0.0.1", ufm->control_address()->port);
  struct {
    const char* path;
    const char* body;
    int status;
  } const cases[] = {
      {"switches", R"({"colour":true})", 400},
      {"switches", R"({"atomic":"yes"})", 400},
      {"switches", "{", 400},
      {"rest", R"({"plain_list":"tree"})", 400},
      {"effect", R"({"delay":"never"})", 400},
      {"effect", "{}", 400},
      {"serving", "{}", 400},
      {"certificate", "{}", 400},
      {"ports", R"([{"guid":"1"}])", 400},
      {"colour", "{}", 404},
      {"virtualization", R"({"on":1})", 400},
  };
  for (const auto& expected : cases) {
    CAPTURE(expected.path);
    CAPTURE(expected.body);
    const auto answer =
        control.Put(std::string("/stand-in/") + expected.path, expected.body, "application/json");
    CHECK(answer->status == expected.status);
  }
  CHECK(control.Get("/ufmRest/app/ufm_version")->status == 404);
  CHECK(plain()->Get("/stand-in/switches")->status == 404);
  CHECK(ufm->ufm().switches() == Switches{});
}

}  // namespace
}  // namespace ibpod::fake_ufm
