// fake_ufm as a process, with the partitions.conf of a real OpenSM on h0 of a simulated subnet.
#pragma once

#include "lib/ib/hex.h"
#include "tests/fabric/background.h"
#include "tests/fabric/engine/raw_opensm.h"
#include "tests/fabric/engine/subnet.h"
#include "tests/support/in_time.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_ca.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <httplib.h>

namespace ibpod {

class Ufm {
 public:
  Ufm() : process_(start_ufm()) {
    const std::string ready = ready_line();
    tls_port_ = port_in(ready, "tls");
    plain_port_ = port_in(ready, "plain");
    control_port_ = port_in(ready, "control");
  }

  int tls_port() const { return tls_port_; }
  // A file with the certificate of its CA.
  Path ca() const { return folder_.path() / "ca.crt"; }
  Path password() const { return folder_.path() / "password"; }
  // The section of ibpod-sm's configuration.
  std::string section() const {
    return R"("addresses": ["https://127.0.0.1:)" + std::to_string(tls_port_) +
           R"("], "user": "ibpod", "passwordFile": ")" + password().string() + R"(", "caFile": ")" +
           ca().string() + R"(", "readSeconds": 5, "effectSeconds": 1)";
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
  // The requests of all clients.
  std::string log() { return control().Get("/stand-in/log")->body; }
  // The REST interface without TLS, as the user ib-kubernetes.
  httplib::Client rest() const {
    httplib::Client client("127.0.0.1", plain_port_);
    client.set_basic_auth("ib-kubernetes", "123456");
    return client;
  }

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
    folder_.write(
        "config",
        R"({"control": "127.0.0.1:0", "plain": "127.0.0.1:0", "tls": {"listen": "127.0.0.1:0",
      "certificate": ")" +
            here + R"(/tls.crt", "key": ")" + here + R"(/tls.key"},
      "users": [{"name": "ibpod", "password": "5ec7e7"},
                {"name": "ib-kubernetes", "password": "123456"}],
      "rest": {"version": "6.23.1-6", "default_membership": "limited", "m_key_per_port": false},
      "ports": [{"guid": ")" +
            ib::hex(guid_of(1).value(), 16) +
            R"(", "system": "n1"}],
      "partitions_file": ")" +
            opensm.partitions().string() +
            R"(",
      "opensm_pid_file": ")" +
            here + "/pid\"}");
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
  int tls_port_ = 0, plain_port_ = 0, control_port_ = 0;
};

}  // namespace ibpod
