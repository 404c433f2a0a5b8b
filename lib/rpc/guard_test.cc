#include "lib/rpc/guard.h"

#include "lib/rpc/test_tls.h"
#include "tests/support/http2_attacks.h"
#include "tests/support/in_time.h"

#include <map>

#include <doctest/doctest.h>

namespace ibpod::rpc {
namespace {

constexpr auto kPath = "/ibpod.echo.Echo/Say";

struct AttackedBed : TlsBed {
  explicit AttackedBed(const CallerLimits& limits = {}) : TlsBed(settings(limits)) {}

  static TcpServer::Settings settings(const CallerLimits& limits) {
    TcpServer::Settings settings;
    settings.callers = limits;
    return settings;
  }
  TestCa::Issued bad = ca.issue(client_named("bad"));

  std::optional<RawHttp2> connect(bool acknowledge = true) const {
    return RawHttp2::connect("127.0.0.1", port, bad, acknowledge);
  }
  // Whether it is cut off long before that.
  bool ends(const std::string& attack) const {
    const Http2Attack& one = http2_attack(attack);
    auto connection = connect(one.acknowledge);
    return connection && !one.run(*connection, kPath, Deadline::in(Duration(60'000)));
  }
};

TEST_CASE("guard: who resets its calls, or sends headers without end, is cut, and others are not") {
  const std::map<std::string, std::vector<Cause>> attacks{
      {"reset", {Cause::unfinished, Cause::rate}},
      {"resetdata", {Cause::unfinished, Cause::rate}},
      {"open", {Cause::unfinished, Cause::rate}},
      {"continuation", {Cause::bytes}},
      {"ping", {Cause::bytes}},
      {"emptydata", {Cause::bytes}},
      {"open-half", {Cause::bytes}},
      {"half-and-whole", {Cause::bytes}}};
  for (const auto& [attack, causes] : attacks) {
    CAPTURE(attack);
    AttackedBed bed(CallerLimits{.unfinished = 300, .calls_a_second = 200, .bytes = 1 << 20});
    const auto good = bed.channel();
    REQUIRE(say(*good, "hello"));
    CHECK(bed.ends(attack));
    // The connection may notice before the count does.
    CHECK(in_time([&] {
      uint64_t cut = 0;
      for (const Cause cause : causes) cut += bed.server->cut(cause);
      return cut == 1;
    }));
    CHECK(say(*good, "hello"));
  }
}

TEST_CASE("guard: who was cut is named, and barred for some time") {
  CallerLimits limits;
  limits.barred = Duration(3'600'000);
  std::mutex mutex;
  std::vector<Cut> told;
  TcpServer::Settings settings = AttackedBed::settings(limits);
  settings.on_cut = [&](const Cut& cut) {
    const std::lock_guard lock(mutex);
    told.push_back(cut);
  };
  TlsBed bed(settings);
  const TestCa::Issued bad = bed.ca.issue(client_named("bad"));
  const auto attack = [&](const std::string& name) {
    auto connection = RawHttp2::connect("127.0.0.1", bed.port, bad);
    return !connection ||
           !http2_attack(name).run(*connection, kPath, Deadline::in(Duration(60'000)));
  };
  CHECK(attack("reset"));
  CHECK(attack("stay"));  // which would be nothing
  CHECK(in_time([&] { return bed.server->cut(Cause::barred) == 1; }));
  CHECK(say(*bed.channel(), "hello"));
  bed.server.reset();
  REQUIRE(told.size() == 2);
  CHECK(told[0].holder == "bad");
  CHECK(told[0].address == "127.0.0.1");
  CHECK(told[1].cause == Cause::barred);
}

TEST_CASE("guard: of too many connections of one certificate the oldest ends, and others' do not") {
  CallerLimits limits;
  limits.connections = 2;
  AttackedBed bed(limits);
  const auto good = bed.channel();
  REQUIRE(say(*good, "hello"));
  auto first = bed.connect(), second = bed.connect();
  REQUIRE((first && second));
  // The other two hold on: a third one is there for the server once its first frames are.
  const auto third = bed.connect();
  REQUIRE(third);
  CHECK(in_time([&] { return !first->receive(10); }));
  CHECK(second->receive(0));
  CHECK(in_time([&] { return bed.server->cut(Cause::connections) == 1; }));
  CHECK(say(*good, "hello"));
}

TEST_CASE("guard: large requests, one after the other and beside a stream, are no attack") {
  TlsBed bed;
  const auto channel = bed.channel();
  const auto stub = echo::Echo::NewStub(channel->now());
  grpc::ClientContext context;
  const auto stream = stub->Listen(&context, {});
  for (int n = 0; n < 6; ++n) CHECK(say(*channel, std::string(kLargestRequest - 100, 'x')));
  echo::Words words;
  CHECK(stream->Read(&words));
  for (size_t cause = 0; cause < kCauses; ++cause)
    CHECK(bed.server->cut(static_cast<Cause>(cause)) == 0);
  context.TryCancel();
}

TEST_CASE("guard: who sends much before a certificate is cut") {
  CallerLimits limits;
  limits.handshake_bytes = 4;
  const AttackedBed bed(limits);
  const Fd client = connect_from(1, bed.port);
  REQUIRE(::send(client.get(), "\x16\x3\x1\x2\x0\x1", 6, MSG_NOSIGNAL) == 6);
  CHECK(closed_by_other_side(client));
  CHECK(in_time([&] { return bed.server->cut(Cause::handshake) == 1; }));
}

TEST_CASE("guard: a certificate's holder is its CN, or else its first name of a host or URI") {
  const TestCa ca;
  const auto holder = [&](const TestCa::Asked& asked) {
    return holder_of(ca.issue(asked).certificate);
  };
  CHECK(holder({.common_name = "node-7", .names = {"DNS:a.example"}}) == "node-7");
  CHECK(holder({.common_name = "n\n", .names = {"IP:10.0.0.1", "URI:spiffe://lab/n"}}) ==
        "URI=spiffe://lab/n");
  CHECK(holder({.common_name = "\t", .names = {"DNS:a.example"}}) == "DNS=a.example");
  CHECK(holder({.common_name = "\t"}).empty());
  CHECK(holder_of("no certificate").empty());
}

}  // namespace
}  // namespace ibpod::rpc
