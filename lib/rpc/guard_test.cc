#include "lib/rpc/guard.h"

#include "lib/rpc/test_tls.h"
#include "tests/support/http2_attacks.h"
#include "tests/support/in_time.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod::rpc {
namespace {

constexpr auto kPath = "/ibpod.echo.Echo/Say";

struct AttackedFixture : TlsFixture {
  explicit AttackedFixture(const CallerLimits& limits = {}) : TlsFixture(settings(limits)) {}

  static TcpServer::Settings settings(const CallerLimits& limits) {
    TcpServer::Settings settings;
    settings.callers = limits;
    return settings;
  }
  TestCa::Issued bad = ca.issue(client_named("bad"));

  std::optional<RawHttp2> connect(bool acknowledge = true) const {
    return RawHttp2::connect("127.0.0.1", port, bad, acknowledge);
  }
  // True if it is cut off long before that.
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
    // Its whole calls would be too many in a second, on a fast machine.
    const double calls_a_second = attack == "half-and-whole" ? 1e6 : 200;
    AttackedFixture fixture(
        CallerLimits{.unfinished = 300, .calls_a_second = calls_a_second, .bytes = 1 << 20});
    const auto good = fixture.channel();
    REQUIRE(say(*good, "hello"));
    CHECK(fixture.ends(attack));
    // The connection may notice before the count does.
    CHECK(in_time([&] {
      uint64_t cut = 0;
      for (const Cause cause : causes) cut += fixture.server->cut(cause);
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
  TcpServer::Settings settings = AttackedFixture::settings(limits);
  settings.on_cut = [&](const Cut& cut) {
    const std::lock_guard lock(mutex);
    told.push_back(cut);
  };
  TlsFixture fixture(settings);
  const TestCa::Issued bad = fixture.ca.issue(client_named("bad"));
  const auto attack = [&](const std::string& name) {
    auto connection = RawHttp2::connect("127.0.0.1", fixture.port, bad);
    return !connection ||
           !http2_attack(name).run(*connection, kPath, Deadline::in(Duration(60'000)));
  };
  CHECK(attack("reset"));
  CHECK(attack("stay"));  // which would be nothing
  CHECK(in_time([&] { return fixture.server->cut(Cause::barred) == 1; }));
  CHECK(say(*fixture.channel(), "hello"));
  fixture.server.reset();
  REQUIRE(told.size() == 2);
  CHECK(told[0].holder == "bad");
  CHECK(told[0].address == "127.0.0.1");
  CHECK(told[1].cause == Cause::barred);
}

TEST_CASE("guard: of too many connections of one certificate the oldest ends, and others' do not") {
  CallerLimits limits;
  limits.connections = 2;
  AttackedFixture fixture(limits);
  const auto good = fixture.channel();
  REQUIRE(say(*good, "hello"));
  auto first = fixture.connect(), second = fixture.connect();
  REQUIRE((first && second));
  // The other two hold on: a third one is there for the server once its first frames are.
  const auto third = fixture.connect();
  REQUIRE(third);
  CHECK(in_time([&] { return !first->receive(10); }));
  CHECK(second->receive(0));
  CHECK(in_time([&] { return fixture.server->cut(Cause::connections) == 1; }));
  CHECK(say(*good, "hello"));
}

TEST_CASE("guard: large requests, one after the other and beside a stream, are no attack") {
  TlsFixture fixture;
  const auto channel = fixture.channel();
  const auto stub = echo::Echo::NewStub(channel->now().value());
  grpc::ClientContext context;
  const auto stream = stub->Listen(&context, {});
  for (int n = 0; n < 6; ++n) CHECK(say(*channel, std::string(kLargestRequest - 100, 'x')));
  echo::Words words;
  CHECK(stream->Read(&words));
  for (size_t cause = 0; cause < kCauses; ++cause)
    CHECK(fixture.server->cut(static_cast<Cause>(cause)) == 0);
  context.TryCancel();
}

TEST_CASE("guard: who connects again and again is cut, and barred") {
  CallerLimits limits;
  limits.connections_a_second = 0.001;
  limits.connections_at_once = 2;
  const AttackedFixture fixture(limits);
  // They stay open: one that has ended before it is looked at is not counted.
  const auto first = fixture.connect(), second = fixture.connect(), third = fixture.connect();
  CHECK(in_time([&] { return fixture.server->cut(Cause::reconnects) == 1; }));
  CHECK(say(*fixture.channel(), "hello"));
}

TEST_CASE("guard: certificates of one account share its limits, and those of others do not") {
  TcpServer::Settings settings;
  settings.callers.connections = 1;
  settings.account = [](const Peer& peer) { return peer.names.empty() ? "" : peer.names.front(); };
  TlsFixture fixture(settings);
  const auto connect = [&](const std::string& cn, const std::string& name) {
    const TestCa::Issued own =
        fixture.ca.issue({.common_name = cn, .names = {name}, .usage = "clientAuth"});
    return RawHttp2::connect("127.0.0.1", fixture.port, own);
  };
  auto first = connect("ibpod-agent", "DNS:n1");
  REQUIRE(first);
  auto second = connect("renewed", "DNS:n1");
  REQUIRE(second);
  CHECK(in_time([&] { return !first->receive(10); }));
  auto other = connect("renewed", "DNS:n2");
  const auto third = connect("ibpod-agent", "DNS:n1");
  REQUIRE((other && third));
  CHECK(in_time([&] { return !second->receive(10); }));
  CHECK(other->receive(0));
  CHECK(in_time([&] { return fixture.server->cut(Cause::connections) == 2; }));
}

TEST_CASE("guard: who sends much before a certificate is cut") {
  CallerLimits limits;
  limits.handshake_bytes = 4;
  const AttackedFixture fixture(limits);
  const Fd client = connect_from(1, fixture.port);
  REQUIRE(::send(client.get(), "\x16\x3\x1\x2\x0\x1", 6, MSG_NOSIGNAL) == 6);
  CHECK(closed_by_other_side(client));
  CHECK(in_time([&] { return fixture.server->cut(Cause::handshake) == 1; }));
}

// gRPC, as far as the guard knows of it.
struct FakeChannelz : Channelz {
  std::vector<Socket>& opened;
  std::map<Id, Counts>& known;

  FakeChannelz(std::vector<Socket>& told, std::map<Id, Counts>& known)
      : opened(told), known(known) {}
  std::vector<Socket> new_sockets() override { return std::exchange(opened, {}); }
  std::optional<Counts> counts(Id socket) const override {
    const auto found = known.find(socket);
    return found == known.end() ? std::nullopt : std::optional(found->second);
  }
};

struct GuardFixture {
  std::vector<Channelz::Socket> opened;
  std::map<Channelz::Id, Channelz::Counts> known;
  std::vector<Cause> cut;
  std::string holder;  // of the last one
  Fd listening = listen_on(0);
  Fd client = connect_from(1, port_of(listening));
  Fd server{::accept(listening.get(), nullptr, nullptr)};
  std::shared_ptr<AuthenticatedConnections> authenticated =
      std::make_shared<AuthenticatedConnections>();
  std::unique_ptr<Guard> guard;

  explicit GuardFixture(const CallerLimits& limits = {})
      : guard(Guard::start(limits, {.on_cut =
                                        [this](const Cut& one) {
                                          cut.push_back(one.cause);
                                          holder = one.holder;
                                        },
                                    .authenticated = authenticated,
                                    .channelz = std::make_unique<FakeChannelz>(opened, known)})
                  .value()) {
    REQUIRE(guard->watch(server.get(), "127.0.0.1"));
  }
  void authenticate(const std::string& account) const {
    const uint16_t port = SocketHandle::of(server.get())->peer().value().port;
    authenticated->set("ipv4:127.0.0.1:" + std::to_string(port), account);
  }
  void tell(Channelz::Id id) {
    opened.push_back({id, 1, SocketHandle::of(server.get())->peer().value(), {}});
  }
  // The server has taken so many bytes more.
  void pass(size_t bytes) const {
    std::vector<char> room(64 << 10);
    while (bytes > 0) {
      const size_t size = std::min(bytes, room.size());
      REQUIRE(::send(client.get(), room.data(), size, 0) == static_cast<ssize_t>(size));
      REQUIRE(::recv(server.get(), room.data(), size, MSG_WAITALL) == static_cast<ssize_t>(size));
      bytes -= size;
    }
  }
  // True if it is cut for bytes that belong to no call's request.
  bool cut_for_bytes() {
    for (int n = 0; n < 20 && cut.empty(); ++n) {
      pass(1 << 20);
      guard->look();
    }
    return cut == std::vector{Cause::bytes};
  }
};

TEST_CASE("guard: bytes of requests that are not whole count, whatever is whole beside them") {
  for (const uint64_t held : {uint64_t{3}, uint64_t{4}}) {
    GuardFixture fixture;
    fixture.tell(7);
    fixture.known[7] = {.begun = held};
    for (int n = 0; n < 20 && fixture.cut.empty(); ++n) {
      fixture.pass(1 << 20);
      ++fixture.known[7].begun, ++fixture.known[7].messages, ++fixture.known[7].ended;
      fixture.guard->look();
    }
    // Three have 12 MiB at most.
    CHECK(fixture.cut == (held > 3 ? std::vector{Cause::bytes} : std::vector<Cause>()));
  }
}

TEST_CASE("guard: a connection that gRPC tells of late, from a port used before, is watched") {
  GuardFixture fixture;
  fixture.tell(7);  // which was another connection's
  fixture.guard->look();
  fixture.pass(8 << 10);
  fixture.guard->look();
  SUBCASE("it is told of then") {
    fixture.tell(8);
    fixture.known[8] = {.begun = 1, .messages = 1};
    CHECK(fixture.cut_for_bytes());
  }
  SUBCASE("it was told of before, and the other one once more") {
    fixture.tell(8);
    fixture.known[8] = {.begun = 1, .messages = 1};
    fixture.guard->look();
    fixture.pass(8 << 10);
    fixture.tell(7);
    CHECK(in_time([&] { return fixture.guard->look(), fixture.opened.empty(); }));
    CHECK(fixture.cut_for_bytes());
  }
  SUBCASE("it is never told of") {
    CHECK(in_time([&] {
      fixture.guard->look();
      return fixture.cut == std::vector{Cause::handshake};
    }));
    CHECK(closed_by_other_side(fixture.client));
  }
}

TEST_CASE("guard: a connection counts under its address until a call of it is authenticated") {
  GuardFixture fixture;
  fixture.known[7] = {.begun = 1, .messages = 1};
  std::string expected = "address 127.0.0.1";
  SUBCASE("none is") { fixture.tell(7); }
  SUBCASE("one is later") {
    fixture.tell(7);
    fixture.guard->look();
    fixture.authenticate("node n1");
    expected = "node n1";
  }
  SUBCASE("one is before gRPC tells of it") {
    fixture.authenticate("node n1");
    fixture.guard->look();
    fixture.tell(7);
    expected = "node n1";
  }
  SUBCASE("of another connection") {
    fixture.tell(7);
    fixture.authenticated->set("ipv4:127.0.0.2:4711", "node n1");
  }
  CHECK(fixture.cut_for_bytes());
  CHECK(fixture.holder == expected);
}

TEST_CASE("guard: a connection on which no call is authenticated in time is cut") {
  GuardFixture fixture(CallerLimits{.unauthenticated = Duration(0)});
  fixture.known[7] = {.begun = 1, .messages = 1};
  fixture.tell(7);
  std::vector<Cause> expected{Cause::unauthenticated};
  SUBCASE("none is") {}
  SUBCASE("one is") {
    fixture.authenticate("node n1");
    expected.clear();
  }
  fixture.guard->look();
  CHECK(fixture.cut == expected);
}

TEST_CASE("guard: a certificate has the names that calls have") {
  TlsFixture fixture;
  const TestCa::CertificateRequest asked{
      .common_name = "node-7",
      .names = {"URI:spiffe://lab/n", "IP:10.0.0.7", "DNS:a.example", "DNS:b.example"},
      .usage = "clientAuth"};
  const TestCa::Issued issued = fixture.ca.issue(asked);
  REQUIRE(say(*fixture.channel(Files(fixture.ca, issued)), "hello"));
  CHECK(peer_of(issued.certificate) == fixture.service.last_peer());
}

TEST_CASE("guard: a certificate's holder is its CN, or else its first name of a host or URI") {
  const TestCa ca;
  const auto holder = [&](const TestCa::CertificateRequest& asked) {
    return holder_of(peer_of(ca.issue(asked).certificate));
  };
  CHECK(holder({.common_name = "node-7", .names = {"DNS:a.example"}}) == "node-7");
  CHECK(holder({.common_name = "n\n", .names = {"IP:10.0.0.1", "URI:spiffe://lab/n"}}) ==
        "URI=spiffe://lab/n");
  CHECK(holder({.common_name = "\t", .names = {"DNS:a.example"}}) == "DNS=a.example");
  CHECK(holder({.common_name = "\t"}).empty());
  CHECK(holder_of(peer_of("no certificate")).empty());
}

}  // namespace
}  // namespace ibpod::rpc
