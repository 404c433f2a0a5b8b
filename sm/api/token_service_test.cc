// The service over TLS for agents that have a token and no certificate.
#include "lib/fabricapi/service_address.h"
#include "lib/rpc/grpc_log.h"
#include "lib/rpc/tcp_server.h"
#include "sm/api/test_service.h"
#include "tests/support/raw_http2.h"
#include "tests/support/test_ca.h"
#include "tests/support/test_issuer.h"

#include <array>
#include <atomic>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace ibpod::sm::api {
namespace {

Fd listen_on_loopback(uint16_t& port) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(fd.get(), any, size) != 0 || ::listen(fd.get(), 1024) != 0 ||
      ::getsockname(fd.get(), any, &size) != 0)
    std::abort();
  port = ntohs(address.sin_port);
  return fd;
}

struct TokenServiceFixture {
  TempFolder folder;
  TestCa ca;
  // Two clusters have the same issuer, as most do, and name their keys alike.
  TestIssuer issuer{"k1"}, dev{"k1"};
  RoleRules rules =
      RoleRules::make({{NamePattern::parse("CN=node:*").value(), Role::node}}).value();
  std::unique_ptr<TokenAuthenticator> tokens;
  TestFabric fabric;
  TaskQueue tasks{{}};
  std::unique_ptr<FabricService<TestFabric>> service;
  uint16_t port = 0;
  std::vector<rpc::Cut> cut;  // of the server's thread; to be read once that has ended
  std::unique_ptr<rpc::TcpServer> server;
  TestThread thread{tasks};

  explicit TokenServiceFixture(const rpc::CallerLimits& limits = {}) {
    rpc::silence_grpc();
    put("jwks.json", key_set_of({issuer.jwk()}));
    put("dev.json", key_set_of({dev.jwk()}));
    put("ca.crt", ca.certificate());
    Cluster prods{"prod", std::string(kTestIssuer), path("jwks.json")};
    Cluster devs{"dev", std::string(kTestIssuer), path("dev.json")};
    devs.is_default = false;
    devs.audience = "ibpod-sm.dev";
    tokens = TokenAuthenticator::open({prods, devs}).value();
    const auto authenticated = std::make_shared<rpc::AuthenticatedConnections>();
    const CallGate::Deps deps{
        authenticator(rules, {tokens.get(), authenticated}, [](const Error&) {}), tasks,
        [](const Caller&, std::string_view, const std::string&, const Error&) {}};
    service = std::make_unique<FabricService<TestFabric>>(fabric, deps);
    rpc::TcpServer::Settings settings;
    settings.files = issue("server", {.common_name = "sm", .names = {"IP:127.0.0.1"}});
    settings.client = rpc::ClientCertificate::optional;
    settings.authenticated = authenticated;
    settings.callers = limits;
    settings.account = accounts(rules);
    settings.on_cut = [this](const rpc::Cut& one) { cut.push_back(one); };
    server = rpc::TcpServer::serve(listen_on_loopback(port), settings, {service.get()}).value();
  }
  Path path(const std::string& name) const { return folder.path() / name; }
  void put(const std::string& name, const std::string& content) const {
    if (!write_file_atomically(path(name), content)) std::abort();
  }
  rpc::TlsFiles issue(const std::string& name, const TestCa::CertificateRequest& asked) const {
    const TestCa::Issued issued = ca.issue(asked);
    put(name + ".crt", issued.certificate);
    put(name + ".key", issued.key);
    return {path(name + ".crt"), path(name + ".key"), path("ca.crt")};
  }
  void put_token(const std::string& node) const { put_token(node + ".token", issuer, node); }
  void put_token(const std::string& file, const TestIssuer& by, const std::string& node) const {
    json::Value claims = pod_claims(node, TokenAuthenticator::system_clock()());
    if (&by == &dev) claims.set("aud", "ibpod-sm.dev");
    put(file, by.sign(claims) + "\n");
  }
  ServiceAddress address(const std::string& node) const {
    return {.address = "127.0.0.1:" + std::to_string(port),
            .files = {{}, {}, path("ca.crt")},
            .token = path(node + ".token")};
  }
  Client agent(const std::string& node) const {
    put_token(node);
    return lasting_client_of(address(node)).value();
  }
  Client agent_in_dev(const std::string& node) const {
    put_token("dev-" + node + ".token", dev, node);
    return lasting_client_of(address("dev-" + node)).value();
  }
};

SyncRequest sync_of(const std::string& node) {
  SyncRequest request = test_sync();
  request.node = node;
  return request;
}

TEST_CASE("token service: an agent with a token and no certificate is its node, and no other") {
  TokenServiceFixture fixture;
  Client n1 = fixture.agent("n1");
  const auto answer = n1.sync(sync_of("n1"), soon());
  REQUIRE_MESSAGE(answer, answer.error().text());
  CHECK(fixture.fabric.last_requests().caller ==
        Caller{Role::node, "n1",
               "system:serviceaccount:ibpod:ibpod-agent, pod ibpod-agent-x7k2p on node n1 of "
               "cluster prod",
               "prod"});
  const auto other = n1.sync(sync_of("n2"), soon());
  REQUIRE_FALSE(other);
  CHECK(other.error().code() == Code::denied);
  CHECK(other.error().text().find("may not sync for node n2, only for n1") != std::string::npos);
}

TEST_CASE("token service: nodes of one name in two clusters are two, each in its own cluster") {
  TokenServiceFixture fixture;
  Client prods = fixture.agent("n1"), devs = fixture.agent_in_dev("n1");
  const auto caller = [&] { return fixture.fabric.last_requests().caller; };
  REQUIRE(prods.sync(sync_of("n1"), soon()));
  CHECK(caller().node == "n1");
  CHECK(fixture.fabric.last_requests().synced.node == "n1");
  const auto answer = devs.sync(sync_of("n1"), soon());
  REQUIRE_MESSAGE(answer, answer.error().text());
  CHECK(caller().node == "dev/n1");
  CHECK(caller().cluster == "dev");
  CHECK(fixture.fabric.last_requests().synced.node == "dev/n1");

  BindRequest bind = test_bind();
  bind.attachment.node = "n1";
  bind.pod.name_space = "team-a";
  fixture.fabric.serves_cluster("dev");
  const auto bound = devs.bind(bind, soon());
  REQUIRE_MESSAGE(bound, bound.error().text());
  CHECK(bound->attachment == test_attachment());
  CHECK(bound->pod == test_binding().pod);
  CHECK(fixture.fabric.last_requests().bound.attachment.node == "dev/n1");
  CHECK(fixture.fabric.last_requests().bound.pod.name_space == "dev/team-a");

  const size_t calls = fixture.fabric.calls();
  for (const std::string other : {"prod/n1", "n2", "lab/n1"}) {
    const auto refused = devs.sync(sync_of(other), soon());
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Code::denied);
    CHECK(refused.error().text().find("only for dev/n1") != std::string::npos);
  }
  CHECK(prods.unbind({"dev/n1", "c1", "net1"}, soon()).error().code() == Code::denied);
  CHECK(fixture.fabric.calls() == calls);
  // A certificate's node is of the default cluster.
  Client host = client_of({.address = fixture.address("n1").address,
                           .files = fixture.issue("n1", {.common_name = "node:n1"})})
                    .value();
  REQUIRE(host.sync(sync_of("n1"), soon()));
  CHECK(fixture.fabric.last_requests().synced.node == "n1");
  const auto forged = client_of({.address = fixture.address("n1").address,
                                 .files = fixture.issue("dev", {.common_name = "node:dev/n1"})})
                          .value()
                          .sync(sync_of("n1"), soon());
  CHECK(forged.error().code() == Code::denied);
}

TEST_CASE("token service: the token of the file is sent, whenever it is replaced") {
  TokenServiceFixture fixture;
  Client agent = fixture.agent("n1");
  REQUIRE(agent.sync(sync_of("n1"), soon()));
  // The kubelet's next token, here of another node, as it shows which one was sent.
  fixture.put_token("n2");
  std::filesystem::rename(fixture.path("n2.token"), fixture.path("n1.token"));
  CHECK(agent.sync(sync_of("n2"), soon()));
  std::filesystem::remove(fixture.path("n1.token"));
  const auto without = agent.sync(sync_of("n1"), soon());
  CHECK(without.error().code() == Code::unavailable);
  CHECK(without.error().text().find("n1.token") != std::string::npos);
  CHECK_FALSE(agent.certificate_usable());
  CHECK_FALSE(agent.certificate_expires());
}

TEST_CASE("token service: a refused token has its reason, and a certificate goes on to work") {
  TokenServiceFixture fixture;
  Client agent = fixture.agent("n1");
  const int64_t old = TokenAuthenticator::system_clock()() - 7200;
  const std::string expired = fixture.issuer.sign(pod_claims("n1", old));
  fixture.put("n1.token", expired);
  const auto refused = agent.sync(sync_of("n1"), soon());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::denied);
  CHECK(refused.error().text().find("token: claim exp: the token expired 3") != std::string::npos);
  CHECK(refused.error().text().find(expired.substr(0, 30)) == std::string::npos);
  const auto client = [&](const rpc::TlsFiles& files) {
    return client_of({.address = fixture.address("n1").address, .files = files}).value();
  };
  CHECK(client(fixture.issue("n3", {.common_name = "node:n3"})).sync(sync_of("n3"), soon()));
  const auto neither = client({{}, {}, fixture.path("ca.crt")}).sync(sync_of("n1"), soon());
  CHECK(neither.error().code() == Code::denied);
  CHECK(neither.error().text().find("the caller has no certificate and no token") !=
        std::string::npos);
  // A certificate that is shown has to be one of the CA's.
  const TestCa other;
  const TestCa::Issued foreign = other.issue({.common_name = "node:n3"});
  fixture.put("n4.crt", foreign.certificate);
  fixture.put("n4.key", foreign.key);
  CHECK(client({fixture.path("n4.crt"), fixture.path("n4.key"), fixture.path("ca.crt")})
            .sync(sync_of("n3"), soon())
            .error()
            .code() == Code::unavailable);
}

TEST_CASE("token service: a token is never sent to a socket without TLS") {
  const TempFolder folder;
  const auto client =
      client_of({.address = "unix:/run/sm.sock", .files = {}, .token = folder.path() / "t"});
  REQUIRE_FALSE(client);
  CHECK(client.error().text() ==
        "a token is sent over TLS only: expected HOST:PORT, got \"unix:/run/sm.sock\"");
}

TEST_CASE("token service: 200 agents at once are 200 nodes") {
  constexpr size_t kAgents = 200;
  // All of them have one address here, as behind an address translator.
  TokenServiceFixture fixture;
  std::vector<Client> agents;
  for (size_t n = 0; n < kAgents; ++n) agents.push_back(fixture.agent("n" + std::to_string(n)));
  std::atomic<size_t> next = 0, synced = 0;
  std::vector<std::thread> threads(8);
  for (std::thread& thread : threads)
    thread = std::thread([&] {
      for (size_t n = next++; n < kAgents; n = next++)
        if (agents[n].sync(sync_of("n" + std::to_string(n)), Deadline::in(Duration(60'000))))
          ++synced;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(synced == kAgents);
  CHECK(fixture.fabric.calls() == kAgents);
  fixture.server.reset();
  CHECK(fixture.cut.empty());
}

TEST_CASE("token service: who shows no token does not cut the agent that has the same address") {
  rpc::CallerLimits limits;
  limits.connections = 2;
  limits.unauthenticated = Duration(3'600'000);
  TokenServiceFixture fixture(limits);
  Client agent = fixture.agent("n1");
  REQUIRE(agent.sync(sync_of("n1"), soon()));
  std::vector<RawHttp2> others;
  for (int n = 0; n < 6; ++n)
    if (auto one = RawHttp2::connect("127.0.0.1", fixture.port, {}))
      others.push_back(std::move(*one));
  CHECK(in_time([&] { return fixture.server->cut(rpc::Cause::connections) >= 4; }));
  CHECK(agent.sync(sync_of("n1"), soon()));
  fixture.server.reset();
  // As many as of six. With the agent's it would be five.
  CHECK(fixture.cut.size() == 4);
  for (const rpc::Cut& cut : fixture.cut) CHECK(cut.holder == "address 127.0.0.1");
}

TEST_CASE("token service: a connection without an accepted token is cut, and the agent's is not") {
  rpc::CallerLimits limits;
  limits.unauthenticated = Duration(5'000);
  TokenServiceFixture fixture(limits);
  Client agent = fixture.agent("n1");
  REQUIRE(agent.sync(sync_of("n1"), soon()));
  fixture.put("n2.token", "none");
  Client refused = lasting_client_of(fixture.address("n2")).value();
  CHECK(refused.sync(sync_of("n2"), soon()).error().code() == Code::denied);
  CHECK(in_time([&] { return fixture.server->cut(rpc::Cause::unauthenticated) == 1; }));
  CHECK(agent.sync(sync_of("n1"), soon()));
  fixture.server.reset();
  REQUIRE(fixture.cut.size() == 1);
  CHECK(fixture.cut.front().holder == "address 127.0.0.1");
}

}  // namespace
}  // namespace ibpod::sm::api
