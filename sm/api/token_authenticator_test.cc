#include "sm/api/token_authenticator.h"

#include "sm/api/authz.h"
#include "sm/api/callers.h"
#include "tests/support/https_server.h"
#include "tests/support/in_time.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_ca.h"
#include "tests/support/test_issuer.h"

#include <doctest/doctest.h>

namespace ibpod::sm::api {
namespace {

using fabricapi::Caller;
using fabricapi::Role;
using json::Value;

constexpr int64_t kNow = 1'800'000'000;
// The name of the caller with the token of usual(), for the audit log.
constexpr std::string_view kName =
    "system:serviceaccount:ibpod:ibpod-agent, pod ibpod-agent-x7k2p on node n1 of cluster prod";

struct TokenFixture {
  TempFolder folder;
  Path file = folder.path() / "jwks.json";
  TestIssuer rsa{"r1", TestIssuer::Kind::rsa};
  TestIssuer ec{"e1"};
  std::unique_ptr<TokenAuthenticator> tokens;

  TokenFixture() {
    has({&rsa, &ec});
    tokens = TokenAuthenticator::open({{"prod", std::string(kTestIssuer), file}}, [] {
               return kNow;
             }).value();
  }
  void has(const std::vector<const TestIssuer*>& issuers) const {
    std::vector<Value> keys;
    for (const TestIssuer* one : issuers) keys.push_back(one->jwk());
    if (!write_file_atomically(file, key_set_of(keys))) std::abort();
  }
  // The error, which never has a part of the token; empty: it is taken.
  std::string error_of(const std::string& token) const {
    const auto caller = tokens->identify("Bearer " + token);
    if (caller) return "";
    CHECK(caller.error().code() == Code::denied);
    const std::string& text = caller.error().text();
    CHECK(text.size() < 450);
    for (size_t n = 0; n + 24 <= token.size(); n += 8)
      if (text.find(token.substr(n, 24)) != text.npos) FAIL_CHECK("quotes the token");
    return text;
  }
};

Value usual() { return pod_claims("n1", kNow); }

Value kubernetes(const std::string& key, const std::optional<Value>& value) {
  Value claims = usual();
  Value inner = claims.at("kubernetes.io").value();
  if (value) inner.set(key, *value);
  if (!value) inner.erase(key);
  return claims.set("kubernetes.io", inner);
}

Value account(const std::string& name) {
  Value value = Value::object();
  return value.set("name", name).set("uid", "u1");
}

TEST_CASE("tokens: a pod's token of either algorithm is its node's") {
  const TokenFixture fixture;
  const Caller n1{Role::node, "n1", std::string(kName), "prod"};
  for (const TestIssuer* one : {&fixture.rsa, &fixture.ec}) {
    const std::string token = one->sign(usual());
    CHECK(fixture.tokens->identify("Bearer " + token).value() == n1);
    CHECK(fixture.tokens->identify("bearer " + token).value() == n1);
  }
  CHECK(account_of(n1) == "node n1");
}

struct Refused {
  std::string about, token, error;
};

template <size_t count>
void check_refused(const TokenFixture& fixture, const Refused (&table)[count]) {
  for (const auto& [about, token, error] : table) {
    CAPTURE(about);
    CHECK(fixture.error_of(token) == error);
  }
}

TEST_CASE("tokens: each claim that is not that of a node has its reason") {
  const TokenFixture fixture;
  const TestIssuer& rsa = fixture.rsa;
  const std::string twice =
      usual().text().insert(1, R"("exp":1800003540,)");  // and the signature is right
  const Value other_audience = Value::array().push("https://kubernetes.default.svc");
  const Refused table[] = {
      {"expired", rsa.sign(usual().set("exp", kNow - 600)),
       "token: claim exp: the token expired 600 s ago (at 1799999400)"},
      {"not yet valid", rsa.sign(usual().set("nbf", kNow + 600)),
       "token: claim nbf: the token is valid in 600 s (at 1800000600): check the clocks"},
      {"issued in the future", rsa.sign(usual().set("iat", kNow + 600)),
       "token: claim iat: the token is issued in 600 s (at 1800000600): check the clocks"},
      {"wrong audience", rsa.sign(usual().set("aud", other_audience)),
       R"(token: claim aud: expected ibpod-sm, got ["https://kubernetes.default.svc"])"},
      {"no node claim", rsa.sign(kubernetes("node", std::nullopt)),
       "token: claim kubernetes.io.node: is missing: expected the pod's node, which Kubernetes "
       "1.30 and later add"},
      {"without a pod", rsa.sign(kubernetes("pod", std::nullopt)),
       "token: claim kubernetes.io.pod: is missing: expected a token that is projected into a "
       "pod"},
      {"wrong service account", rsa.sign(kubernetes("serviceaccount", account("default"))),
       "token: claim kubernetes.io.serviceaccount: expected ibpod/ibpod-agent, got "
       "ibpod/default"},
      {"wrong namespace", rsa.sign(kubernetes("namespace", Value("team-a"))),
       "token: claim kubernetes.io.serviceaccount: expected ibpod/ibpod-agent, got "
       "team-a/ibpod-agent"},
      {"a claim twice", rsa.sign(rsa.header(), twice),
       R"(token: the claims: JSON: duplicate key "exp")"},
  };
  check_refused(fixture, table);
}

TEST_CASE("tokens: a service with an audience of its own takes no token for another one") {
  const TokenFixture fixture;
  Cluster east{"prod", std::string(kTestIssuer), fixture.file};
  east.audience = "ibpod-sm.east";
  const auto tokens = TokenAuthenticator::open({east}, [] { return kNow; }).value();
  const auto bearer = [&](const Value& claims) { return "Bearer " + fixture.rsa.sign(claims); };
  CHECK(tokens->identify(bearer(usual())).error().text() ==
        R"(token: claim aud: expected ibpod-sm.east, got ["ibpod-sm"])");
  Value both = Value::array().push("ibpod-sm.west").push("ibpod-sm.east");
  CHECK(tokens->identify(bearer(usual().set("aud", both))).value().node == "n1");
}

TEST_CASE("tokens: each signature that is not the issuer's has its reason") {
  const TokenFixture fixture;
  const TestIssuer& rsa = fixture.rsa;
  const TestIssuer other("r1", TestIssuer::Kind::rsa), unknown("r9", TestIssuer::Kind::rsa);
  const std::string none = unsigned_token(R"({"alg":"none","kid":"r1"})", usual().text());
  const Refused table[] = {
      {"alg none, without a signature", none + ".",
       "token: the signature: expected base64url, got nothing"},
      {"alg none, with one", none + ".AAAA",
       R"(token: header alg: expected RS256 or ES256, got "none")"},
      {"the public key as a secret",
       hmac_token(R"({"alg":"HS256","kid":"r1"})", usual().text(), rsa.pem()),
       R"(token: header alg: expected RS256 or ES256, got "HS256")"},
      {"the public key as a secret, under another name",
       hmac_token(R"({"alg":"RS256","kid":"r1"})", usual().text(), rsa.pem()),
       R"(token: the signature is not that of the key "r1")"},
      {"another algorithm than the key's",
       fixture.ec.sign(R"({"alg":"ES256","kid":"r1"})", usual().text()),
       R"(token: header alg: expected RS256, that of the key "r1", got ES256)"},
      {"another cluster's", other.sign(usual().set("iss", "https://oidc.lab.example")),
       R"(token: claim iss: expected "https://kubernetes.default.svc.cluster.local", got )"
       R"("https://oidc.lab.example")"},
      {"another cluster's, under this issuer's name", other.sign(usual()),
       R"(token: the signature is not that of the key "r1")"},
      {"unknown kid", unknown.sign(usual()),
       R"(token: header kid: expected a key of the issuer, "r1", "e1", got "r9")"},
      {"huge", std::string(20'000, 'A'),
       "token: the token has 20000 bytes: expected at most 16384"},
      {"garbage", "?" + rsa.sign(usual()), "token: the header: expected base64url without padding"},
      {"two", rsa.sign(usual()) + ",Bearer " + rsa.sign(usual()),
       "token: expected three parts with dots between them, got 4 dots"},
      {"a password", "hunter2", "token: expected three parts with dots between them, got 0 dots"},
  };
  check_refused(fixture, table);
}

TEST_CASE("tokens: a caller without a token, or with another scheme, is told what is expected") {
  const TokenFixture fixture;
  const auto error = [&](const std::string& authorization) {
    return fixture.tokens->identify(authorization).error().text();
  };
  CHECK(error("") == "the caller has no certificate and no token");
  for (const char* other : {"Bearer", "Bearer ", "Basic aHVudGVyMg==", "Bearer:x"})
    CHECK(error(other) == "authorization: expected Bearer and a token");
}

TEST_CASE("tokens: keys that are rotated are followed") {
  const TokenFixture fixture;
  const TestIssuer next("r2", TestIssuer::Kind::rsa);
  CHECK_FALSE(fixture.error_of(next.sign(usual())).empty());
  fixture.has({&fixture.rsa, &next});
  CHECK(fixture.error_of(fixture.rsa.sign(usual())).empty());
  CHECK(fixture.error_of(next.sign(usual())).empty());
  fixture.has({&next});
  CHECK(fixture.error_of(fixture.rsa.sign(usual())) ==
        R"(token: header kid: expected a key of the issuer, "r2", got "r1")");
  CHECK(fixture.tokens->keys()[0]);
  std::filesystem::remove(fixture.file);
  CHECK(fixture.error_of(next.sign(usual())).empty());
  CHECK(fixture.tokens->keys()[0].error().text().find("the previous keys stay in use: ") == 0);
}

// An issuer with keys that a test sets.
struct TestKeys final : jwt::KeySource {
  std::shared_ptr<const jwt::KeySet> keys;
  size_t missing = 0;
  Result<std::shared_ptr<const jwt::KeySet>> now() override {
    if (keys == nullptr) return Error(Code::unavailable, "not yet");
    return keys;
  }
  void key_missing() override { ++missing; }
  Status state() const override {
    if (keys == nullptr) return Error(Code::unavailable, "away");
    return ok();
  }
};

Cluster cluster_named(const std::string& name, const Path& keys = {}) {
  Cluster cluster{name, std::string(kTestIssuer), keys};
  cluster.is_default = name == "prod";
  if (!cluster.is_default) cluster.audience = "ibpod-sm." + name;
  return cluster;
}

// usual() of the cluster dev.
Value devs() { return usual().set("aud", "ibpod-sm.dev"); }

// For the cluster prod, and, if there are such keys, for dev.
TokenAuthenticator with_keys(std::unique_ptr<jwt::KeySource> prod,
                             std::unique_ptr<jwt::KeySource> dev = nullptr) {
  std::vector<TokenAuthenticator::Issuer> issuers;
  issuers.push_back({cluster_named("prod"), std::move(prod)});
  if (dev != nullptr) issuers.push_back({cluster_named("dev"), std::move(dev)});
  return {std::move(issuers), [] { return kNow; }};
}

TEST_CASE("tokens: before the keys are known no token is judged, and no caller reported") {
  auto source = std::make_unique<TestKeys>();
  TestKeys& keys = *source;
  const TokenAuthenticator tokens = with_keys(std::move(source));
  const RoleRules rules = RoleRules::make({}).value();
  size_t refused = 0;
  const Identify identify = authenticator(rules, {&tokens}, [&](const Error&) { ++refused; });
  const TestIssuer issuer("k1");
  const rpc::Peer agent{"", {}, false, "Bearer " + issuer.sign(usual())};
  const auto early = identify(agent);
  REQUIRE_FALSE(early);
  CHECK(early.error().code() == Code::unavailable);
  CHECK(early.error().text() == "token: not yet");
  CHECK(tokens.keys()[0].error().text() == "away");
  // Neither is one that can be judged without them.
  CHECK(identify({"", {}, false, "Bearer x"}).error().code() == Code::denied);
  CHECK(refused == 1);
  keys.keys =
      std::make_shared<const jwt::KeySet>(jwt::KeySet::parse(key_set_of({issuer.jwk()})).value());
  CHECK(identify(agent)->node == "n1");
  CHECK(tokens.keys()[0]);
}

TEST_CASE("tokens: only one of the issuer with an unknown key asks for newer keys") {
  auto source = std::make_unique<TestKeys>();
  TestKeys& keys = *source;
  const TestIssuer issuer("k1"), forger("k1"), next("k2");
  keys.keys =
      std::make_shared<const jwt::KeySet>(jwt::KeySet::parse(key_set_of({issuer.jwk()})).value());
  const TokenAuthenticator tokens = with_keys(std::move(source));
  const auto judge = [&](const std::string& token) {
    return tokens.identify("Bearer " + token).ok();
  };
  CHECK(judge(issuer.sign(usual())));
  CHECK_FALSE(judge(forger.sign(usual())));
  CHECK_FALSE(judge(next.sign(usual().set("iss", "https://oidc.lab.example"))));
  CHECK_FALSE(judge("x"));
  CHECK(keys.missing == 0);
  CHECK_FALSE(judge(next.sign(usual())));
  CHECK(keys.missing == 1);
}

// Clusters prod, the default one, and dev, both of kTestIssuer, and each with a key of its own.
struct TwoClusters {
  TempFolder folder;
  TestIssuer prod, dev;
  std::unique_ptr<TokenAuthenticator> tokens;

  TwoClusters(const std::string& prods_kid, const std::string& devs_kid)
      : prod(prods_kid), dev(devs_kid) {
    has("prod", {&prod});
    has("dev", {&dev});
    tokens = TokenAuthenticator::open(
                 {cluster_named("prod", path("prod")), cluster_named("dev", path("dev"))},
                 [] { return kNow; })
                 .value();
  }
  Path path(const std::string& name) const { return folder.path() / name; }
  void has(const std::string& name, const std::vector<const TestIssuer*>& issuers) const {
    std::vector<Value> keys;
    for (const TestIssuer* one : issuers) keys.push_back(one->jwk());
    if (!write_file_atomically(path(name), key_set_of(keys))) std::abort();
  }
  Result<Caller> identify(const TestIssuer& issuer, const Value& claims) const {
    return tokens->identify("Bearer " + issuer.sign(claims));
  }
  // The node, or the error.
  std::string result(const TestIssuer& issuer, const Value& claims) const {
    const auto caller = identify(issuer, claims);
    if (caller) return caller->node;
    CHECK(caller.error().code() == Code::denied);
    return caller.error().text();
  }
};

TEST_CASE(
    "tokens: of clusters with one issuer the audience decides, whatever the keys are called") {
  for (const std::string devs_kid : {"k1", "k2"}) {
    CAPTURE(devs_kid);
    const TwoClusters two("k1", devs_kid);
    const auto ours = two.identify(two.prod, usual()), theirs = two.identify(two.dev, devs());
    REQUIRE_MESSAGE(ours, ours.error().text());
    REQUIRE_MESSAGE(theirs, theirs.error().text());
    CHECK(*ours == Caller{Role::node, "n1", std::string(kName), "prod"});
    CHECK(*theirs ==
          Caller{Role::node, "dev/n1",
                 "system:serviceaccount:ibpod:ibpod-agent, pod ibpod-agent-x7k2p on node n1 of "
                 "cluster dev",
                 "dev"});
    CHECK(account_of(*ours) == "node n1");
    CHECK(account_of(*theirs) == "node dev/n1");
    CHECK(authorize(*theirs, Call::bind, "dev/n1"));
    for (const std::string other : {"n1", "dev/n2", "lab/n1", "prod/n1", ""})
      CHECK_FALSE_MESSAGE(authorize(*theirs, Call::bind, other), other);
    CHECK_FALSE(authorize(*ours, Call::bind, "dev/n1"));
  }
}

TEST_CASE("tokens: one that its cluster has not signed is refused, also if another one has") {
  const TwoClusters two("k1", "k1");
  const TestIssuer forger("k1"), unknown("k9");
  const std::string forged = R"(token: the signature is not that of the key "k1")";
  for (const Value& claims : {usual(), devs()}) {
    CHECK(two.result(forger, claims) == forged);
    CHECK(two.result(unknown, claims) ==
          R"(token: header kid: expected a key of the issuer, "k1", got "k9")");
  }
  CHECK(two.result(two.dev, usual()) == forged);
  CHECK(two.result(two.prod, devs()) == forged);
  CHECK(two.result(two.dev, devs().set("exp", kNow - 600)) ==
        "token: claim exp: the token expired 600 s ago (at 1799999400)");
}

TEST_CASE("tokens: one that names no cluster or two is refused, and told of no cluster") {
  const TwoClusters two("k1", "k1");
  const auto refused = [](const std::string& got) {
    return "token: claims aud and iss: expected the audience and the issuer of one cluster of "
           "ibpod-sm's configuration, got " +
           got;
  };
  const std::string issuer = " and \"" + std::string(kTestIssuer) + "\"";
  const Value both = Value::array().push("ibpod-sm").push("ibpod-sm.dev");
  for (const TestIssuer* one : {&two.prod, &two.dev}) {
    CHECK(two.result(*one, usual().set("aud", both)) ==
          refused(R"(["ibpod-sm","ibpod-sm.dev"])" + issuer));
    CHECK(two.result(*one, usual().set("aud", "x")) == refused(R"("x")" + issuer));
    CHECK(two.result(*one, usual().erase("aud")) == refused("nothing" + issuer));
    CHECK(two.result(*one, usual().set("iss", "x")) == refused(R"(["ibpod-sm"] and "x")"));
    CHECK(two.result(*one, usual().set("iss", 7)) == refused(R"(["ibpod-sm"] and 7)"));
  }
}

TEST_CASE("tokens: a copy of another cluster's keys is of no use and stops no token") {
  const TwoClusters two("k1", "k2");
  two.has("dev", {&two.dev, &two.prod});
  CHECK(two.result(two.prod, usual()) == "n1");
  CHECK(two.result(two.dev, devs()) == "dev/n1");
  // prod rotates, and dev has the new key first.
  const TestIssuer next("k3");
  two.has("dev", {&two.dev, &next});
  CHECK(two.result(next, usual()) ==
        R"(token: header kid: expected a key of the issuer, "k1", got "k3")");
  two.has("prod", {&two.prod, &next});
  for (const TestIssuer* one : {&two.prod, &next}) CHECK(two.result(*one, usual()) == "n1");
  two.has("prod", {&next});
  CHECK(two.result(next, usual()) == "n1");
  CHECK(two.result(two.dev, devs()) == "dev/n1");
}

TEST_CASE("tokens: another issuer's cluster takes only what is meant for it, and by its accounts") {
  const TempFolder folder;
  const TestIssuer prod("k1"), dev("k1");
  const auto keys_of = [&](const std::string& name, const TestIssuer& issuer) {
    REQUIRE(write_file_atomically(folder.path() / name, key_set_of({issuer.jwk()})));
    return cluster_named(name, folder.path() / name);
  };
  Cluster other = keys_of("dev", dev);
  other.issuer = "https://oidc.lab.example";
  other.service_accounts = {"fabric/agent"};
  const auto tokens =
      TokenAuthenticator::open({keys_of("prod", prod), other}, [] { return kNow; }).value();
  const auto error = [&](const TestIssuer& issuer, const Value& claims) {
    const auto caller = tokens->identify("Bearer " + issuer.sign(claims));
    return caller ? caller->node : caller.error().text();
  };
  const std::string signature = R"(token: the signature is not that of the key "k1")";
  const std::string neither = "token: claims aud and iss: ";
  CHECK(error(prod, usual()) == "n1");
  CHECK(error(dev, usual()) == signature);
  CHECK(error(dev, usual().set("iss", other.issuer)).starts_with(neither));
  CHECK(error(dev, devs()).starts_with(neither));
  const Value meant = devs().set("iss", other.issuer);
  CHECK(error(prod, meant) == signature);
  CHECK(error(dev, meant) ==
        "token: claim kubernetes.io.serviceaccount: expected fabric/agent, got ibpod/ibpod-agent");
  Value inner = meant.at("kubernetes.io").value();
  inner.set("namespace", "fabric").set("serviceaccount", account("agent"));
  CHECK(error(dev, Value(meant).set("kubernetes.io", inner)) == "dev/n1");
}

TEST_CASE("tokens: while one cluster's keys are not known, only its own tokens are not judged") {
  const auto keys_of = [](const std::vector<const TestIssuer*>& issuers) {
    std::vector<Value> keys;
    for (const TestIssuer* one : issuers) keys.push_back(one->jwk());
    return std::make_shared<const jwt::KeySet>(jwt::KeySet::parse(key_set_of(keys)).value());
  };
  const TestIssuer prod("k1"), dev("k1"), next("k2");
  auto prods = std::make_unique<TestKeys>(), copied = std::make_unique<TestKeys>();
  TestKeys &unknown = *prods, &known = *copied;
  known.keys = keys_of({&dev, &next});
  const TokenAuthenticator tokens = with_keys(std::move(prods), std::move(copied));
  const auto result = [&](const TestIssuer& issuer, const Value& claims) {
    const auto caller = tokens.identify("Bearer " + issuer.sign(claims));
    return caller ? caller->node : std::string(name(caller.error().code()));
  };
  const std::string unavailable(name(Code::unavailable)), denied(name(Code::denied));
  CHECK(result(dev, devs()) == "dev/n1");
  CHECK(result(prod, usual()) == unavailable);
  CHECK(result(next, usual()) == unavailable);  // dev has a copy of prod's key
  CHECK(tokens.keys()[0].error().text() == "away");
  CHECK(tokens.keys()[1]);
  unknown.keys = keys_of({&prod});
  CHECK(result(prod, usual()) == "n1");
  CHECK(unknown.missing + known.missing == 0);
  // A new key is of the cluster that the token names.
  CHECK(result(next, usual()) == denied);
  CHECK(unknown.missing == 1);
  unknown.keys = keys_of({&prod, &next});
  CHECK(result(next, usual()) == "n1");
  CHECK(unknown.missing == 1);
  CHECK(known.missing == 0);
}

TEST_CASE("tokens: the keys of a server are used when they have come") {
  const TempFolder folder;
  const TestCa ca;
  const TestIssuer issuer("k1");
  const std::string keys = key_set_of({issuer.jwk()});
  const HttpsServer server(ca.issue({.common_name = "api", .names = {"IP:127.0.0.1"}}),
                           [&](const HttpsRequest&) { return HttpsAnswer{.body = keys}; });
  const Path file = folder.path() / "ca.crt";
  const jwt::KeyEndpoint endpoint{server.address() + "/openid/v1/jwks", file, {}};
  // The server cannot be verified yet.
  const auto tokens =
      TokenAuthenticator::open({{"prod", std::string(kTestIssuer), endpoint}}, [] { return kNow; });
  REQUIRE(tokens);
  const std::string bearer = "Bearer " + issuer.sign(usual());
  CHECK((*tokens)->identify(bearer).error().code() == Code::unavailable);
  const std::string none = "no keys: every token is refused: " + endpoint.url + ": ";
  CHECK(in_time([&] {
    const Status state = (*tokens)->keys()[0];
    return !state && state.error().text().starts_with(none);
  }));
  REQUIRE(write_file_atomically(file, ca.certificate()));
  CHECK(in_time([&] { return (*tokens)->identify(bearer).ok(); }));
  CHECK((*tokens)->keys()[0]);
}

TEST_CASE("tokens: one that is replayed from another node speaks for its own node only") {
  const TokenFixture fixture;
  const auto stolen = fixture.tokens->identify("Bearer " + fixture.rsa.sign(usual()));
  REQUIRE(stolen);
  CHECK(authorize(*stolen, Call::bind, "n1"));
  const Status bound = authorize(*stolen, Call::bind, "n2");
  CHECK(bound.error().code() == Code::denied);
  CHECK(bound.error().text() ==
        std::string(kName) + ", node, may not bind for node n2, only for n1");
  CHECK_FALSE(authorize(*stolen, Call::create_partition));
}

TEST_CASE("tokens: a certificate decides alone, and a socket is root's") {
  const TokenFixture fixture;
  const RoleRules rules =
      RoleRules::make({{NamePattern::parse("CN=system:node:*").value(), Role::node}}).value();
  size_t refused = 0;
  const Identify identify =
      authenticator(rules, {fixture.tokens.get()}, [&](const Error&) { ++refused; });
  const std::string bearer = "Bearer " + fixture.rsa.sign(usual());
  const auto peer = [&](const std::string& common_name) {
    return rpc::Peer{common_name, {}, false, bearer};
  };
  CHECK(identify(peer(""))->node == "n1");
  CHECK(identify(peer("system:node:n2"))->node == "n2");
  CHECK(identify(peer("eve")).error().text() == "certificate matches no role: CN=eve");
  CHECK(identify({"", {}, true, bearer})->role == Role::administrator);
  CHECK_FALSE(identify({}));
  CHECK(refused == 2);
  const Identify without = authenticator(rules, {}, [](const Error&) {});
  CHECK(without(peer("")).error().text() == "the caller has no certificate, or no name in it");
}

}  // namespace
}  // namespace ibpod::sm::api
