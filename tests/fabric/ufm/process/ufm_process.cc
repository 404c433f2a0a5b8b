#include "tests/fabric/ufm/process/ufm_process.h"

#include "lib/base/join.h"
#include "lib/ib/hex.h"
#include "lib/json/value.h"
#include "tests/support/in_time.h"
#include "tests/support/test_ca.h"

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <set>

#include <doctest/doctest.h>
#include <httplib.h>

namespace ibpod {
namespace {

// "fake_ufm is ready: tls=127.0.0.1:1234 control=127.0.0.1:1235"
int port_in(const std::string& line, const std::string& what) {
  const std::string before = what + "=127.0.0.1:";
  const size_t at = line.find(before);
  REQUIRE(at != line.npos);
  return std::atoi(line.c_str() + at + before.size());
}

std::string user_text(const std::string& name) {
  return R"({"name": ")" + name + R"(", "password": ")" + kUfmPassword + "\"}";
}

std::string ports_text(const std::vector<ib::Guid>& ports) {
  return join(ports, ",", [](ib::Guid guid) {
    const std::string text = ib::hex(guid.value(), 16);
    return R"({"guid": ")" + text + R"(", "system": "n)" + text + "\"}";
  });
}

ib::PKey pkey_of(const std::string& text) {
  return ib::PKey(static_cast<uint16_t>(std::stoul(text, nullptr, 16)));
}

ib::Guid guid_in(const std::string& text) { return ib::Guid(std::stoull(text, nullptr, 16)); }

std::string text_at(const json::Value& object, const char* key) {
  const auto value = object.find(key);
  return value ? value->string().value() : "";
}

UfmCall read_call(const json::Value& entry) {
  UfmCall call;
  call.caller = text_at(entry, "caller");
  call.operation = text_at(entry, "operation");
  call.membership = text_at(entry, "membership");
  call.pkey = pkey_of(text_at(entry, "pkey"));
  for (const json::Value& guid : entry.at("guids").value().elements().value())
    call.guids.push_back(guid_in(guid.string().value()));
  call.status = static_cast<int>(entry.at("status").value().integer(0, 1000).value());
  call.changed = entry.at("changed").value().boolean().value();
  const int64_t at =
      entry.at("monotonic_us").value().integer(0, std::numeric_limits<int64_t>::max() / 2).value();
  call.at += std::chrono::microseconds(at);
  return call;
}

httplib::Client client_at(int port) {
  httplib::Client client("127.0.0.1", port);
  client.set_read_timeout(std::chrono::seconds(60));
  return client;
}

}  // namespace

bool UfmCall::is_write() const {
  return std::set<std::string>{"post",         "add_empty",           "put",
                               "remove_guids", "remove_guids_action", "delete_partition",
                               "set_qos"}
      .contains(operation);
}

UfmProcess::UfmProcess(const Setup& setup) : process_(start(setup)) {
  const std::string ready = ready_line();
  tls_port_ = port_in(ready, "tls");
  plain_port_ = port_in(ready, "plain");
  control_port_ = port_in(ready, "control");
}

Background UfmProcess::start(const Setup& setup) const {
  const TestCa ca;
  const auto issued = ca.issue({.common_name = "ufm", .names = {"IP:127.0.0.1"}});
  folder_.write("ca.crt", ca.certificate());
  folder_.write("tls.crt", issued.certificate);
  folder_.write("tls.key", issued.key);
  const Path password = folder_.write("password", std::string(kUfmPassword) + "\n");
  std::filesystem::permissions(password, std::filesystem::perms::owner_read);
  folder_.write("pid", std::to_string(setup.opensm));
  std::vector<std::string> users{kUfmUser};
  users.insert(users.end(), setup.others.begin(), setup.others.end());
  const std::string here = folder_.path().string();
  folder_.write("config", R"({"control": "127.0.0.1:0", "plain": "127.0.0.1:0",
    "tls": {"listen": "127.0.0.1:0", "certificate": ")" +
                              here + R"(/tls.crt", "key": ")" + here + R"(/tls.key"},
    "users": [)" + join(users, ",", user_text) +
                              R"(],
    "rest": {"version": "6.23.1-6", "default_membership": "limited", "m_key_per_port": false},
    "ports": [)" + ports_text(setup.ports) +
                              R"(], "partitions_file": ")" + setup.partitions.string() +
                              R"(", "opensm_pid_file": ")" + here + "/pid\"}");
  auto started = Background::start({.words = {"sh", "-c", "exec " IBPOD_FAKE_UFM " config >ready"},
                                    .folder = folder_.path(),
                                    .environment = {{"LD_PRELOAD", ""}, {"ASAN_OPTIONS", ""}}});
  if (!started) FAIL(started.error().text());
  return std::move(started).value();
}

std::string UfmProcess::ready_line() const {
  std::string line;
  CHECK(in_time([&] {
    const auto ready = read_file(folder_.path() / "ready");
    line = ready ? *ready : "";
    return line.ends_with("\n");
  }));
  return line;
}

std::string UfmProcess::section(int read_seconds, int effect_seconds) const {
  return R"("addresses": ["https://127.0.0.1:)" + std::to_string(tls_port_) + R"("], "user": ")" +
         kUfmUser + R"(", "passwordFile": ")" + (folder_.path() / "password").string() +
         R"(", "caFile": ")" + (folder_.path() / "ca.crt").string() + R"(", "readSeconds": )" +
         std::to_string(read_seconds) + R"(, "effectSeconds": )" + std::to_string(effect_seconds);
}

std::map<std::string, std::string> UfmProcess::environment_of(const std::string& user) const {
  return {{"UFM_ADDRESS", "127.0.0.1"},
          {"UFM_PORT", std::to_string(tls_port_)},
          {"UFM_HTTP_SCHEMA", "https"},
          {"UFM_USERNAME", user},
          {"UFM_PASSWORD", kUfmPassword},
          {"UFM_CERTIFICATE", read_file(folder_.path() / "ca.crt").value()}};
}

void UfmProcess::set(const std::string& what, const std::string& body) const {
  const auto answer = client_at(control_port_).Put("/stand-in/" + what, body, "application/json");
  REQUIRE(answer);
  CHECK(answer->status == 200);
}

void UfmProcess::post(const std::string& what, const std::string& body) const {
  const auto answer = client_at(control_port_).Post("/stand-in/" + what, body, "application/json");
  REQUIRE(answer);
  CHECK(answer->status == 200);
}

void UfmProcess::remove(const std::string& what) const {
  const auto answer = client_at(control_port_).Delete("/stand-in/" + what);
  REQUIRE(answer);
  CHECK(answer->status == 200);
}

std::string UfmProcess::get(const std::string& what) const {
  const auto answer = client_at(control_port_).Get("/stand-in/" + what);
  REQUIRE(answer);
  CHECK(answer->status == 200);
  return answer->body;
}

std::map<ib::PKey, UfmProcess::Members> UfmProcess::members() const {
  std::map<ib::PKey, Members> all;
  const json::Value stored = json::Value::parse(partitions()).value();
  for (const auto& [pkey, partition] : stored.members().value()) {
    if (pkey_of(pkey).partition() == 0x7fff) continue;
    for (const auto& [guid, member] : partition.at("members").value().members().value())
      all[pkey_of(pkey)][guid_in(guid)] =
          text_at(member, "membership") == "full" ? ib::Membership::full : ib::Membership::limited;
  }
  return all;
}

std::vector<UfmCall> UfmProcess::log() const {
  std::vector<UfmCall> calls;
  const json::Value entries = json::Value::parse(get("log")).value();
  for (const json::Value& entry : entries.elements().value()) calls.push_back(read_call(entry));
  return calls;
}

}  // namespace ibpod
