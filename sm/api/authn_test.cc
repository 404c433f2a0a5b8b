#include "sm/api/authn.h"

#include <doctest/doctest.h>

namespace ibpod::sm::api {
namespace {

using fabricapi::Caller;
using fabricapi::Role;

Result<RoleRules> read(const std::string& text) {
  return read_role_rules(json::Value::parse(text).value());
}

RoleRules usual() {
  return read(R"([{"match": "CN=ibpod-admin", "role": "administrator"},
                  {"match": "CN=admin:*", "role": "administrator"},
                  {"match": "CN=system:node:*", "role": "node"},
                  {"match": "DNS=*.nodes.example", "role": "node"},
                  {"match": "URI=spiffe://lab/node/*", "role": "node"},
                  {"match": "CN=*", "role": "reader"}])")
      .value();
}

rpc::Peer certificate(const std::string& common_name, std::vector<std::string> names = {}) {
  return {common_name, std::move(names), false};
}

TEST_CASE("authority: the first rule that a name of the certificate matches decides") {
  const struct {
    rpc::Peer peer;
    Caller caller;
  } table[] = {
      {{"", {}, true}, {Role::administrator, "", "unix socket"}},
      {certificate("ibpod-admin"), {Role::administrator, "", "CN=ibpod-admin"}},
      {certificate("admin:eva"), {Role::administrator, "", "CN=admin:eva"}},
      {certificate("system:node:n7"), {Role::node, "n7", "CN=system:node:n7"}},
      {certificate("system:node:n7.lab-a"), {Role::node, "n7.lab-a", "CN=system:node:n7.lab-a"}},
      {certificate("system:node:a--b"), {Role::node, "a--b", "CN=system:node:a--b"}},
      {certificate("", {"DNS=n7.nodes.example"}), {Role::node, "n7", "DNS=n7.nodes.example"}},
      {certificate("", {"DNS=x", "URI=spiffe://lab/node/n7"}),
       {Role::node, "n7", "URI=spiffe://lab/node/n7"}},
      // One node with two names.
      {certificate("x", {"DNS=n7.nodes.example", "DNS=n7.nodes.example"}),
       {Role::node, "n7", "DNS=n7.nodes.example"}},
      // The order of the rules counts, not that of the names.
      {certificate("x", {"DNS=n7.nodes.example"}), {Role::node, "n7", "DNS=n7.nodes.example"}},
      {certificate("system:node:n7", {"DNS=n8.nodes.example"}),
       {Role::node, "n7", "CN=system:node:n7"}},
      {certificate("x"), {Role::reader, "", "CN=x"}},
      {certificate("IBPOD-ADMIN"), {Role::reader, "", "CN=IBPOD-ADMIN"}},
      {certificate("ibpod-admin2"), {Role::reader, "", "CN=ibpod-admin2"}},
      {certificate("xadmin:eva"), {Role::reader, "", "CN=xadmin:eva"}},
      {certificate("admin:"), {Role::reader, "", "CN=admin:"}},
  };
  for (const auto& [peer, caller] : table) {
    CAPTURE(caller.name);
    const auto found = usual().identify(peer);
    REQUIRE(found);
    CHECK(*found == caller);
  }
}

TEST_CASE("authority: whom no rule is for, or who is no certain node, is denied") {
  const struct {
    rpc::Peer peer;
    const char* text;
  } table[] = {
      {{}, "the caller has no certificate, or no name in it"},
      {certificate("", {"DNS=a", "URI=b"}), "certificate matches no role: DNS=a, URI=b"},
      {certificate("system:node:N7"),
       "the certificate's name CN=system:node:N7 contains no valid node name"},
      {certificate("", {"DNS=n7.nodes.example", "DNS=n8.nodes.example"}),
       "the certificate names two nodes, n7 and n8: expected one"},
      // The text of a name does not change its kind.
      {certificate("", {"URI=CN=ibpod-admin"}), "certificate matches no role: URI=CN=ibpod-admin"},
  };
  for (const auto& [peer, text] : table) {
    const auto found = usual().identify(peer);
    REQUIRE_FALSE(found);
    CHECK(found.error().code() == Code::denied);
    CHECK(found.error().text() == text);
  }
  CHECK(read("[]").value().identify(certificate("ibpod-admin")).error().code() == Code::denied);
  CHECK(read("[]").value().identify({"", {}, true}));
}

TEST_CASE("authority: whatever is in a certificate, its refusal is short") {
  std::vector<std::string> names;
  for (int n = 0; n < 2000; ++n) names.push_back("DNS=" + std::to_string(n) + ".example");
  const RoleRules authority = read(R"([{"match": "CN=n:*", "role": "node"}])").value();
  const std::string many = authority.identify(certificate("x", names)).error().text();
  CHECK(many.ends_with("DNS=6.example and 1993 more"));
  const std::string node(2100, 'a');
  const std::string wide = authority.identify(certificate("n:" + node)).error().text();
  CHECK(wide == "a name in the certificate has 2105 bytes: expected at most 2048");
  CHECK(authority.identify(certificate("n:n1", {"URI=" + node})).error().code() == Code::denied);
  const std::vector<std::string> long_ones(100, "URI=" + std::string(2000, 'a'));
  CHECK(authority.identify(certificate("x", long_ones)).error().text().size() < 2500);
}

TEST_CASE("authority: a node's name is one that Kubernetes would give") {
  const RoleRules authority = read(R"([{"match": "CN=n:*", "role": "node"}])").value();
  for (const std::string node :
       {"-a", "a-", ".a", "a.", "a..b", "a.-b", "a-.b", "a_b", "a b", "A", "a/b", "a:b", "*"}) {
    CAPTURE(node);
    CHECK_FALSE(authority.identify(certificate("n:" + node)));
  }
  CHECK_FALSE(authority.identify(certificate("n:" + std::string(254, 'a'))));
  CHECK(authority.identify(certificate("n:" + std::string(253, 'a'))));
  CHECK(authority.identify(certificate("n:0.a-1.b")));
}

TEST_CASE("authority: rules that cannot be meant are refused, with their place") {
  const auto refusal = [](const std::string& text) { return read(text).error().text(); };
  CHECK(refusal(R"([{"match": "ibpod", "role": "node"}])").starts_with("[0].match: expected CN="));
  CHECK(refusal(R"([{"match": "CN=", "role": "reader"}])").starts_with("[0].match: "));
  CHECK(refusal(R"([{"match": "CN=a*b*", "role": "reader"}])") ==
        "[0].match: \"CN=a*b*\" has more than one *");
  CHECK(refusal(R"([{"match": "CN=a", "role": "reader"}, {"match": "CN=a", "role": "boss"}])") ==
        "[1].role: expected administrator, node or reader, got \"boss\"");
  CHECK(refusal(R"([{"match": "CN=node", "role": "node"}])") ==
        "[0].match: \"CN=node\": a rule with role node needs a * for the node name");
  CHECK(refusal(R"([{"match": "CN=*", "role": "administrator"}])") ==
        "[0].match: \"CN=*\" would make every caller an administrator");
  CHECK(refusal(R"([{"match": "CN=a", "role": "node"}])").starts_with("[0].match"));
  CHECK(refusal(R"([{"match": "CN=a", "role": "reader"},
                    {"match": "CN=a", "role": "administrator"}])")
            .ends_with("\"CN=a\" is listed twice"));
  CHECK_FALSE(read(R"([{"match": "CN=a"}])"));
  CHECK_FALSE(read(R"([{"role": "reader"}])"));
  CHECK_FALSE(read(R"([{"match": "CN=a", "role": "reader", "node": "x"}])"));
  CHECK_FALSE(read(R"({"match": "CN=a", "role": "reader"})"));
}

}  // namespace
}  // namespace ibpod::sm::api
