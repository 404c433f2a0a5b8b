#include "sm/api/cluster.h"

#include <doctest/doctest.h>

namespace ibpod::sm::api {
namespace {

using json::Value;

Result<std::vector<Cluster>> read(const std::string& text) {
  return read_clusters(Value::parse(text).value());
}

TEST_CASE("clusters: their keys are in a file or come from a server") {
  const auto keys_of = [](const std::string& keys) {
    return read(R"([{"name": "a", "issuer": "i", "keys": )" + keys + "}]")->front().keys;
  };
  using Keys = decltype(Cluster::keys);
  CHECK(keys_of(R"("/k")") == Keys(Path("/k")));
  CHECK(keys_of(R"({"url": "https://api/jwks", "ca": "/c"})") ==
        Keys(jwt::KeyEndpoint{"https://api/jwks", "/c", {}}));
  CHECK(keys_of(R"({"url": "https://api:6443/jwks", "ca": "/c", "token": "/t"})") ==
        Keys(jwt::KeyEndpoint{"https://api:6443/jwks", "/c", "/t"}));
  const std::string form =
      "expected https://HOST/PATH or https://HOST:PORT/PATH, without a user and a query, of at "
      "most 2000 bytes";
  const struct {
    std::string keys, error;
  } table[] = {
      {"7", "[0].keys: expected a path, or an object with url, ca and token, got 7"},
      {R"("k")", R"([0].keys: expected an absolute path without "." and "..", got "k")"},
      {R"("https://u:5ec7e7@api/jwks")",
       R"([0].keys: expected a path, got a URL: write {"url": URL, "ca": PATH})"},
      {"{}", "[0].keys: the key \"url\" is missing"},
      {R"({"url": "https://api/jwks"})", "[0].keys: the key \"ca\" is missing"},
      {R"({"url": 7, "ca": "/c"})", "[0].keys.url: expected a string, got the number 7"},
      {R"({"url": "https://api", "ca": "/c"})", "[0].keys.url: " + form},
      {R"({"url": "https://u:5ec7e7@api/jwks", "ca": "/c"})", "[0].keys.url: " + form},
      {R"({"url": "http://api/jwks", "ca": "/c"})",
       "[0].keys.url: " + form + ": without TLS every machine on the way could name its own keys"},
      {R"({"url": "https://api/jwks", "ca": "c"})",
       R"([0].keys.ca: expected an absolute path without "." and "..", got "c")"},
      {R"({"url": "https://api/jwks", "ca": "/c", "token": ""})",
       R"([0].keys.token: expected an absolute path without "." and "..", got "")"},
      {R"({"url": "https://api/jwks", "ca": "/c", "tokn": "/t"})",
       R"([0].keys: unknown key "tokn"; did you mean "token"?)"},
  };
  for (const auto& [keys, error] : table) {
    const auto refused = read(R"([{"name": "a", "issuer": "i", "keys": )" + keys + "}]");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text() == error);
  }
}

TEST_CASE("clusters: each value that cannot be one has its place") {
  const auto one = read(R"([{"name": "prod", "issuer": "https://i", "keys": "/k",
                             "serviceAccounts": ["a/b", "c/d.e"]}])");
  REQUIRE_MESSAGE(one, one.error().text());
  CHECK(*one == std::vector<Cluster>{{"prod", "https://i", "/k", {"a/b", "c/d.e"}}});
  const std::string cluster = R"({"name": "a", "issuer": "i", "keys": "/k"})";
  CHECK(read("[" + cluster + "]")->front().service_accounts ==
        std::vector<std::string>{"ibpod/ibpod-agent"});
  CHECK(read("[]")->empty());
  const struct {
    std::string text, error;
  } table[] = {
      {"[{}]", "[0]: the key \"name\" is missing"},
      {R"([{"name": "a", "issuer": "i"}])", "[0]: the key \"keys\" is missing"},
      {R"([{"name": "A", "issuer": "i", "keys": "/k"}])",
       R"([0].name: expected at most 63 lowercase letters, digits and, inside, -, got "A")"},
      {R"([{"name": "a", "issuer": "", "keys": "/k"}])",
       "[0].issuer: expected the issuer of the cluster's tokens, of at most 1024 bytes, got 0"},
      {R"([{"name": "a", "issuer": "i", "keys": "/k", "serviceAccounts": ["agent"]}])",
       R"([0].serviceAccounts[0]: expected NAMESPACE/NAME, such as ibpod/ibpod-agent, got "agent")"},
      {R"([{"name": "a", "issuer": "i", "keys": "/k", "serviceAccounts": []}])",
       "[0].serviceAccounts: expected at least one service account, got none"},
  };
  for (const auto& [text, error] : table) {
    const auto refused = read(text);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text() == error);
  }
  CHECK_FALSE(read(R"([{"name": "a", "issuer": "i", "keys": "/k", "key": "/k"}])"));
}

// A cluster with keys and an audience of its own; `more`: further members of the object.
std::string cluster(const std::string& name, const std::string& more,
                    const std::string& keys = "") {
  const std::string audience =
      more.find("audience") == more.npos ? R"(, "audience": "sm.)" + name + "\"" : "";
  return R"({"name": ")" + name + R"(", "issuer": "i", "keys": "/)" + (keys.empty() ? name : keys) +
         "\"" + audience + more + "}";
}
constexpr const char* kTrue = R"(, "default": true)";
constexpr const char* kFalse = R"(, "default": false)";

TEST_CASE(
    "clusters: one alone is the default cluster if it says nothing; of several each says it") {
  const auto names = [](const std::string& text) {
    const auto clusters = read("[" + text + "]");
    REQUIRE_MESSAGE(clusters, clusters.error().text());
    return names_of(*clusters);
  };
  using Names = fabric::ClusterNames;
  CHECK(names("") == Names());
  for (const char* more : {"", kTrue, R"(, "default": null)"})
    CHECK(names(cluster("prod", more)) == Names{"prod", {}});
  CHECK(names(cluster("prod", kFalse)) == Names{"", {"prod"}});
  CHECK(names(cluster("dev", kFalse) + "," + cluster("prod", kTrue)) == Names{"prod", {"dev"}});
  CHECK(names(cluster("dev", kFalse) + "," + cluster("lab", kFalse)) == Names{"", {"dev", "lab"}});
}

TEST_CASE("clusters: two that could not be told apart are refused") {
  const auto error = [](const std::string& first, const std::string& second) {
    const auto refused = read("[" + first + "," + second + "]");
    REQUIRE_FALSE(refused);
    return refused.error().text();
  };
  const std::string prod = cluster("prod", kTrue);
  for (const char* more : {"", R"(, "default": null)"})
    CHECK(error(prod, cluster("dev", more)) ==
          "[1]: the key \"default\" is missing: of several clusters each one says true, if the "
          "names of its nodes and namespaces have no cluster in front, or false; at most one is "
          "true");
  CHECK(error(cluster("prod", ""), cluster("dev", kFalse)).starts_with("[0]: the key \"default\""));
  CHECK(error(prod, cluster("dev", kTrue)) ==
        "[1].default: expected false, as prod is the default cluster, got true");
  CHECK(error(prod, cluster("prod", kFalse, "other")) ==
        R"([1].name: expected a name that no other cluster has, got "prod")");
  CHECK(error(prod, cluster("dev", kFalse, "prod")) ==
        "[1].keys: expected other keys than those of cluster prod, which has the same issuer");
  // A copy of the other's keys is then of no use.
  for (const std::string audience : {"ibpod-sm", "x"}) {
    const std::string same = R"(, "audience": ")" + audience + "\"";
    CHECK(error(cluster("prod", kTrue + same, "p"), cluster("dev", kFalse + same, "d")) ==
          "[1].audience: cluster dev: expected another audience than that of cluster prod, which "
          "has the same issuer, such as ibpod-sm.dev, got \"" +
              audience + "\"");
  }
  const auto bare = [](const std::string& name, const std::string& issuer, const char* more) {
    return R"({"name": ")" + name + R"(", "issuer": ")" + issuer + R"(", "keys": "/)" + name +
           "\"" + more + "}";
  };
  CHECK(error(bare("prod", "i", kTrue), bare("dev", "i", kFalse)) ==
        "[1]: cluster dev: expected another audience than that of cluster prod, which has the same "
        "issuer, such as ibpod-sm.dev, got \"ibpod-sm\"");
  CHECK(read("[" + bare("prod", "i", kTrue) + "," + bare("dev", "j", kFalse) + "]"));
  CHECK(error(prod, cluster("dev", R"(, "default": 1)")) ==
        "[1].default: expected true or false, got the number 1");
  std::string many = prod;
  for (int n = 0; n < 64; ++n) many += "," + cluster("c" + std::to_string(n), kFalse);
  CHECK(read("[" + many + "]").error().text() ==
        "the document: expected at most 64 clusters, got 65");
}

}  // namespace
}  // namespace ibpod::sm::api
