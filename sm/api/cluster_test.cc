#include "sm/api/cluster.h"

#include <doctest/doctest.h>

namespace ibpod::sm::api {
namespace {

using json::Value;

Result<std::optional<Cluster>> read(const std::string& text) {
  return read_clusters(Value::parse(text).value());
}

TEST_CASE("clusters: their keys are in a file or come from a server") {
  const auto keys_of = [](const std::string& keys) {
    return (*read(R"([{"name": "a", "issuer": "i", "keys": )" + keys + "}]"))->keys;
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
  CHECK(**one == Cluster{"prod", "https://i", "/k", {"a/b", "c/d.e"}});
  const std::string cluster = R"({"name": "a", "issuer": "i", "keys": "/k"})";
  CHECK((*read("[" + cluster + "]"))->service_accounts ==
        std::vector<std::string>{"ibpod/ibpod-agent"});
  CHECK_FALSE(read("[]")->has_value());
  const struct {
    std::string text, error;
  } table[] = {
      {"[" + cluster + "," + cluster + "]",
       "the document: expected at most one cluster, got 2: nodes and namespaces of the same name "
       "in two clusters could not be told apart"},
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

}  // namespace
}  // namespace ibpod::sm::api
