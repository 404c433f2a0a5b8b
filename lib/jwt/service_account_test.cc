#include "lib/jwt/service_account.h"

#include "tests/support/test_issuer.h"

#include <doctest/doctest.h>

namespace ibpod::jwt {
namespace {

using json::Value;

constexpr int64_t kNow = 1'800'000'000;

ExpectedClaims expected() {
  return {std::string(kTestIssuer), "ibpod-sm", {"ibpod/ibpod-agent"}, kNow};
}

Value usual() { return pod_claims("n1", kNow); }

// The claims without one of them, below `kubernetes.io`.
Value kubernetes_without(const std::string& key) {
  Value claims = usual();
  Value kubernetes = claims.at("kubernetes.io").value();
  kubernetes.erase(key);
  return claims.set("kubernetes.io", kubernetes);
}

Value kubernetes_with(const std::string& key, Value value) {
  Value claims = usual();
  Value kubernetes = claims.at("kubernetes.io").value();
  kubernetes.set(key, std::move(value));
  return claims.set("kubernetes.io", kubernetes);
}

Value object(const std::string& name, const std::string& uid) {
  Value value = Value::object();
  return value.set("name", name).set("uid", uid);
}

std::string error_of(const Value& claims) {
  const auto read = check_claims(claims, expected());
  if (read) return "";
  CHECK(read.error().code() == Code::denied);
  return read.error().text();
}

TEST_CASE("service account: the claims of a pod's token") {
  const auto read = check_claims(usual(), expected());
  REQUIRE_MESSAGE(read, read.error().text());
  CHECK(read->name_space == "ibpod");
  CHECK(read->service_account.name == "ibpod-agent");
  CHECK(read->pod.name == "ibpod-agent-x7k2p");
  CHECK(read->node.name == "n1");
  CHECK(read->node.uid == "8f3b9a52-7a35-4a4e-9f55-0f3f5f0d1c11");
  CHECK(error_of(usual().set("aud", "ibpod-sm")).empty());
  CHECK(error_of(usual().set("aud", Value::array().push("api").push("ibpod-sm"))).empty());
}

TEST_CASE("service account: clocks may differ by the leeway and no more") {
  const auto times = [](int64_t exp, int64_t nbf, int64_t iat) {
    return error_of(usual().set("exp", exp).set("nbf", nbf).set("iat", iat));
  };
  CHECK(times(kNow - 29, kNow - 60, kNow - 60).empty());
  CHECK(times(kNow - 30, kNow - 60, kNow - 60) ==
        "claim exp: the token expired 30 s ago (at 1799999970)");
  CHECK(times(kNow + 60, kNow + 30, kNow - 60).empty());
  CHECK(times(kNow + 60, kNow + 31, kNow - 60) ==
        "claim nbf: the token is valid in 31 s (at 1800000031): check the clocks");
  CHECK(times(kNow + 60, kNow, kNow + 30).empty());
  CHECK(times(kNow + 60, kNow, kNow + 31) ==
        "claim iat: the token is issued in 31 s (at 1800000031): check the clocks");
}

TEST_CASE("service account: each claim that is missing or another has its reason") {
  const struct {
    Value claims;
    std::string error;
  } table[] = {
      {usual().set("iss", "https://other.example"),
       R"(claim iss: expected "https://kubernetes.default.svc.cluster.local", got )"
       R"("https://other.example")"},
      {usual().erase("iss"), "claim iss: is missing"},
      {usual().set("iss", 7), "claim iss: expected a string, got the number 7"},
      {usual().set("aud", "api"), R"(claim aud: expected ibpod-sm, got "api")"},
      {usual().set("aud", Value::array().push("a").push("b")),
       R"(claim aud: expected ibpod-sm, got ["a","b"])"},
      {usual().set("aud", Value::array()), "claim aud: expected ibpod-sm, got []"},
      {usual().set("aud", Value::array().push(7)),
       "claim aud[0]: expected a string, got the number 7"},
      {usual().erase("aud"), "claim aud: is missing"},
      {usual().erase("exp"), "claim exp: is missing"},
      {usual().erase("nbf"), "claim nbf: is missing"},
      {usual().erase("iat"), "claim iat: is missing"},
      {usual().set("exp", "soon"), "claim exp: expected a whole number, got the string \"soon\""},
      {usual().set("exp", int64_t{253'402'300'800}),
       "claim exp: expected a whole number from 0 to 253402300799, got the number 253402300800"},
      {usual().set("nbf", -1),
       "claim nbf: expected a whole number from 0 to 253402300799, got the number -1"},
      {usual().erase("kubernetes.io"), "claim kubernetes.io: is missing"},
      {usual().set("kubernetes.io", "x"), "claim kubernetes.io.namespace: is missing"},
      {kubernetes_without("namespace"), "claim kubernetes.io.namespace: is missing"},
      {kubernetes_without("serviceaccount"), "claim kubernetes.io.serviceaccount: is missing"},
      {kubernetes_without("pod"),
       "claim kubernetes.io.pod: is missing: expected a token that is projected into a pod"},
      {kubernetes_without("node"),
       "claim kubernetes.io.node: is missing: expected the pod's node, which Kubernetes 1.30 and "
       "later add"},
      {kubernetes_with("node", Value::object()), "claim kubernetes.io.node.name: is missing"},
      {kubernetes_with("node", object("N1", "u")),
       R"(claim kubernetes.io.node.name: expected the name of a Kubernetes object, got "N1")"},
      {kubernetes_with("node", object("", "u")),
       R"(claim kubernetes.io.node.name: expected the name of a Kubernetes object, got "")"},
      {kubernetes_with("node", object("n1/n2", "u")),
       R"(claim kubernetes.io.node.name: expected the name of a Kubernetes object, got "n1/n2")"},
      {kubernetes_with("node", object("n1", "")),
       "claim kubernetes.io.node.uid: expected 1 to 128 bytes, got 0"},
      {kubernetes_with("serviceaccount", object("default", "u")),
       "claim kubernetes.io.serviceaccount: expected ibpod/ibpod-agent, got ibpod/default"},
      {kubernetes_with("namespace", "team-a"),
       "claim kubernetes.io.serviceaccount: expected ibpod/ibpod-agent, got team-a/ibpod-agent"},
  };
  for (const auto& [claims, error] : table) CHECK(error_of(claims) == error);
}

}  // namespace
}  // namespace ibpod::jwt
