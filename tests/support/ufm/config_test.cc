#include "tests/support/ufm/config.h"

#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::fake_ufm {
namespace {

TEST_CASE("a whole configuration") {
  TempFolder folder;
  folder.write("c.pem", "certificate");
  folder.write("k.pem", "key");
  const std::string at = folder.path().string();
  const auto config = read_config(R"({
    // with TLS and without
    "tls": {"listen": "0.0.0.0:443", "certificate": ")" +
                                  at + R"(/c.pem",
            "key": ")" + at + R"(/k.pem"},
    "plain": "127.0.0.1:8080", "control": "unix:/run/fake-ufm.sock",
    "users": [{"name": "admin", "password": "123456"},
              {"name": "monitor", "password": "1", "role": "reader"}],
    "tokens": {"raw": "admin"}, "certificates": {"ibpod-sm": "admin"},
    "switches": {"atomic": false, "exists_status": 400},
    "rest": {"upper_case": true, "default_membership": "full", "utc_offset_minutes": 120},
    "ports": [{"guid": "0x00000000000000ab", "system": "node1", "lid": 3}],
    "vports": [{"guid": "0x00000000000001ab", "port": "0x00000000000000ab"}],
    "virtualization": true,
    "partitions_file": "/etc/opensm/partitions.conf", "opensm_pid_file": "/run/opensm.pid",
    "effect": "never"})");
  REQUIRE(config);
  CHECK(config->tls->address.port == 443);
  CHECK(config->tls->files.certificate == "certificate");
  CHECK(config->tls->files.key == "key");
  CHECK(config->plain->port == 8080);
  CHECK(config->control->socket == "/run/fake-ufm.sock");
  CHECK(config->users[1].role == Role::reader);
  CHECK(config->tokens.at("raw") == "admin");
  CHECK(config->switches == Switches{.atomic = false, .exists_status = 400});
  CHECK(config->rest.upper_case);
  CHECK(config->rest.default_membership == ib::Membership::full);
  CHECK(config->rest.utc_offset == std::chrono::hours(2));
  CHECK(config->ports == std::vector<Port>{{ib::Guid(0xab), "node1", {}, 3}});
  CHECK(config->vports == std::vector<Vport>{{ib::Guid(0x1ab), ib::Guid(0xab)}});
  CHECK(config->opensm.pid_file == "/run/opensm.pid");
  CHECK_FALSE(config->effect);
  CHECK(read_config(R"({"effect": 500})")->effect == Duration(500));
  CHECK(read_config("{}")->effect == Duration(0));
}

TEST_CASE("what is wrong is named") {
  struct {
    const char* text;
    const char* named;
  } const cases[] = {
      {R"({"colour": 1})", "colour"},
      {R"({"tls": {}})", "listen"},
      {R"({"tls": {"listen": "x"}})", "tls.listen"},
      {R"({"tls": {"listen": "127.0.0.1:1", "certificate": "/nowhere/c.pem"}})", "certificate"},
      {R"({"users": [{"name": "a", "role": "king"}]})", "users[0].role"},
      {R"({"switches": {"atomic": 1}})", "switches.atomic"},
      {R"({"effect": "later"})", "effect"},
      {R"({"ports": [{"guid": "1"}]})", "GUID"},
  };
  for (const auto& expected : cases) {
    CAPTURE(expected.text);
    const auto config = read_config(expected.text);
    REQUIRE_FALSE(config);
    CAPTURE(config.error().text());
    CHECK(config.error().text().find(expected.named) != std::string::npos);
  }
}

}  // namespace
}  // namespace ibpod::fake_ufm
