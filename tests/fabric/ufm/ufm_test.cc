// Stored in UFM is not in force: when the table of a port follows an answer of fake_ufm, and when
// it does not.
#include "lib/ib/hex.h"
#include "tests/fabric/background.h"
#include "tests/fabric/engine/raw_opensm.h"
#include "tests/fabric/engine/subnet.h"
#include "tests/support/in_time.h"

#include <algorithm>
#include <csignal>

#include <doctest/doctest.h>
#include <httplib.h>

namespace ibpod {
namespace {

constexpr unsigned kHost = 5, kOther = 6;
constexpr ib::PKey kFull{0x8005}, kLimited{0x0005};

class Fixture {
 public:
  Fixture() : ufm_(start(folder_, opensm)), port_(find_port("plain")) {
    control_port_ = find_port("control");
  }

  int post(unsigned host, const std::string& flags) {
    const std::string body = R"({"pkey":"0x5","guids":[")" + guid(host) + "\"]," + flags + "}";
    return ufm().Post("/ufmRest/resources/pkeys", body, "application/json")->status;
  }
  int remove(unsigned host) {
    return ufm().Delete("/ufmRest/resources/pkeys/0x5/guids/" + guid(host))->status;
  }
  void set_effect(const std::string& delay) {
    httplib::Client control("127.0.0.1", control_port_);
    const auto answer =
        control.Put("/stand-in/effect", "{\"delay\":" + delay + "}", "application/json");
    REQUIRE(answer);
    CHECK(answer->status == 200);
  }
  // The keys of a host beside the one of the default partition, by their index.
  ib::PKeyTable table(unsigned host) { return subnet.tables()[host]; }
  bool has(unsigned host, ib::PKey key) {
    const ib::PKeyTable keys = table(host);
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  }
  // OpenSM reads what it has once more, to the end. The first sweeps that end may be those that
  // fake_ufm has asked for.
  void sweep() {
    for (int i = 0; i < 3; ++i) {
      REQUIRE(::kill(opensm.pid(), SIGHUP) == 0);
      REQUIRE(opensm.finish_sweep());
    }
  }
  // With SIGTERM. Returns its exit code.
  int stop() {
    ::kill(ufm_.pid(), SIGTERM);
    return ufm_.finish();
  }

  RawOpenSm opensm;
  Subnet subnet;

 private:
  static std::string guid(unsigned host) { return ib::hex(guid_of(host).value(), 16); }
  httplib::Client ufm() const {
    httplib::Client client("127.0.0.1", port_);
    client.set_basic_auth("admin", "123456");
    return client;
  }
  static Background start(const TempFolder& folder, const RawOpenSm& opensm) {
    folder.write("pid", std::to_string(opensm.pid()));
    folder.write("config", R"({"plain": "127.0.0.1:0", "control": "127.0.0.1:0",
      "users": [{"name": "admin", "password": "123456"}], "partitions_file": ")" +
                               opensm.partitions().string() + R"(", "opensm_pid_file": ")" +
                               (folder.path() / "pid").string() + "\"}");
    auto started =
        Background::start({.words = {"sh", "-c", "exec " IBPOD_FAKE_UFM " config >ready"},
                           .folder = folder.path(),
                           .environment = {{"LD_PRELOAD", ""}, {"ASAN_OPTIONS", ""}}});
    if (!started) FAIL(started.error().text());
    return std::move(started).value();
  }
  // "fake_ufm is ready: plain=127.0.0.1:1234 control=127.0.0.1:1235"
  int find_port(const std::string& what) const {
    std::string line;
    CHECK(in_time([&] {
      const auto ready = read_file(folder_.path() / "ready");
      line = ready ? *ready : "";
      return line.ends_with("\n");
    }));
    const std::string before = what + "=127.0.0.1:";
    const size_t at = line.find(before);
    REQUIRE(at != line.npos);
    return std::atoi(line.c_str() + at + before.size());
  }

  TempFolder folder_;
  Background ufm_;
  int port_;
  int control_port_ = 0;
};

TEST_CASE_FIXTURE(Fixture, "what is added gets into the port's table, and goes with its removal") {
  CHECK(in_time([&] { return has(kHost, ib::PKey(0x7fff)); }));
  CHECK(post(kHost, R"("membership":"full")") == 200);
  CHECK(in_time([&] { return has(kHost, kFull); }));
  CHECK_FALSE(has(kOther, kFull));
  CHECK(post(kHost, R"("membership":"limited")") == 200);
  CHECK(in_time([&] { return has(kHost, kLimited) && !has(kHost, kFull); }));
  CHECK(remove(kHost) == 200);
  CHECK(in_time([&] { return !has(kHost, kLimited); }));
}

TEST_CASE_FIXTURE(Fixture, "memberships are ignored: who asks for limited gets full") {
  CHECK(post(kHost, R"("memberships":["limited"])") == 200);
  CHECK(in_time([&] { return has(kHost, kFull); }));
  CHECK_FALSE(has(kHost, kLimited));
}

TEST_CASE_FIXTURE(Fixture, "index 0 is for the members that ask for it") {
  CHECK(post(kHost, R"("index0":true)") == 200);
  CHECK(post(kOther, R"("index0":false)") == 200);
  CHECK(in_time([&] { return has(kHost, kFull) && has(kOther, kFull); }));
  CHECK(table(kHost)[0] == kFull);
  CHECK(table(kOther)[0] == ib::PKey(0x7fff));
}

TEST_CASE_FIXTURE(Fixture, "never in force: UFM answers 200, and no sweep changes a table") {
  CHECK(in_time([&] { return has(kHost, ib::PKey(0x7fff)); }));
  set_effect("\"never\"");
  const ib::PKeyTable before = table(kHost);
  CHECK(post(kHost, R"("membership":"full")") == 200);
  sweep();
  CHECK(table(kHost) == before);
  set_effect("0");
  CHECK(in_time([&] { return has(kHost, kFull); }));
  set_effect("\"never\"");
  CHECK(remove(kHost) == 200);
  sweep();
  CHECK(has(kHost, kFull));
}

TEST_CASE_FIXTURE(Fixture, "a delay: the answer first, the table later") {
  set_effect("1500");
  const auto begin = Deadline::Clock::now();
  CHECK(post(kHost, R"("membership":"full")") == 200);
  const bool early = has(kHost, kFull);
  const bool in_delay = Deadline::Clock::now() - begin < Duration(1500);
  CHECK((!early || !in_delay));
  CHECK(in_time([&] { return has(kHost, kFull); }));
  CHECK(Deadline::Clock::now() - begin >= Duration(1500));
}

TEST_CASE_FIXTURE(Fixture, "SIGTERM ends fake_ufm, and OpenSM goes on with what it has") {
  CHECK(post(kHost, R"("membership":"full")") == 200);
  CHECK(in_time([&] { return has(kHost, kFull); }));
  CHECK(stop() == 0);
  sweep();
  CHECK(has(kHost, kFull));
}

}  // namespace
}  // namespace ibpod
