#include "lib/jwt/fetched_key_set.h"

#include "lib/base/latest.h"
#include "tests/support/https_server.h"
#include "tests/support/in_time.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_ca.h"
#include "tests/support/test_issuer.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod::jwt {
namespace {

using End = HttpsAnswer::End;

constexpr Duration kNever{3'600'000};
// A fetch for each missing key and soon after each failure, and no other.
const FetchSchedule::Settings kOnDemand{kNever, Duration(0), BackOff(Duration(1), Duration(1))};

// As the API server of Kubernetes 1.36: a key set has a media type of its own, and no other.
bool takes_key_sets(const HttpsRequest& request) {
  const auto accept = request.headers.find("accept");
  return accept != request.headers.end() &&
         accept->second.find("application/jwk-set+json") != std::string::npos;
}

struct Fixture {
  TempFolder folder;
  TestCa ca;
  TestIssuer first{"k1"}, second{"k2"};
  Latest<HttpsAnswer> answer;
  std::unique_ptr<HttpsServer> server = std::make_unique<HttpsServer>(
      ca.issue({.common_name = "api", .names = {"IP:127.0.0.1"}}),
      [this](const HttpsRequest& request) {
        return takes_key_sets(request) ? *answer.get() : HttpsAnswer{.status = 406, .body = "none"};
      });
  KeyEndpoint endpoint{
      server->address() + "/openid/v1/jwks", write("ca.crt", ca.certificate()), {}};

  Fixture() { gives({&first}); }
  Path write(const std::string& name, const std::string& content) const {
    const Path file = folder.path() / name;
    if (!write_file_atomically(file, content)) std::abort();
    return file;
  }
  void gives(const std::vector<const TestIssuer*>& issuers) {
    std::vector<json::Value> keys;
    for (const TestIssuer* one : issuers) keys.push_back(one->jwk());
    answer.set({.body = key_set_of(keys)});
  }
  size_t fetches() const { return server->requests().size(); }
};

bool verifies(FetchedKeySet& keys, const TestIssuer& issuer) {
  const auto now = keys.now();
  const Token token = Token::parse(issuer.sign(pod_claims("n1", 1000))).value();
  return now && (*now)->verify(token);
}

std::string trouble(const FetchedKeySet& keys) {
  const Status state = keys.state();
  return state ? "" : state.error().text();
}

bool has_trouble(const FetchedKeySet& keys, const std::string& part) {
  if (in_time([&] { return trouble(keys).find(part) != std::string::npos; })) return true;
  MESSAGE(trouble(keys));
  return false;
}

TEST_CASE("fetched keys: they are there soon after the start") {
  Fixture fixture;
  FetchedKeySet keys(fixture.endpoint);
  REQUIRE(in_time([&] { return keys.now().ok(); }));
  CHECK(verifies(keys, fixture.first));
  CHECK_FALSE(verifies(keys, fixture.second));
  CHECK(keys.state());
  const HttpsRequest request = fixture.server->requests().at(0);
  CHECK(request.method == "GET");
  CHECK(request.target == "/openid/v1/jwks");
  CHECK(request.headers.count("authorization") == 0);
}

TEST_CASE("fetched keys: before the first there are none, and the end does not wait for them") {
  Fixture fixture;
  fixture.answer.set({.end = End::hang});
  const auto begin = std::chrono::steady_clock::now();
  {
    FetchedKeySet keys(fixture.endpoint);
    REQUIRE(in_time([&] { return fixture.fetches() == 1; }));
    const auto none = keys.now();
    REQUIRE_FALSE(none);
    CHECK(none.error().code() == Code::unavailable);
    CHECK(none.error().text() ==
          "it cannot be verified yet: the keys of its issuer have not been fetched");
    CHECK(keys.state());
  }
  // The timeout of a fetch is 10 s.
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(8));
}

TEST_CASE("fetched keys: new ones come after the interval, or when one is missing") {
  Fixture fixture;
  FetchedKeySet on_demand(fixture.endpoint, kOnDemand);
  REQUIRE(in_time([&] { return verifies(on_demand, fixture.first); }));
  fixture.gives({&fixture.first, &fixture.second});
  CHECK_FALSE(verifies(on_demand, fixture.second));
  on_demand.key_missing();
  CHECK(in_time([&] { return verifies(on_demand, fixture.second); }));
  CHECK(verifies(on_demand, fixture.first));
  CHECK(fixture.fetches() == 2);

  FetchSchedule::Settings often = kOnDemand;
  often.interval = Duration(1);
  FetchedKeySet by_itself(fixture.endpoint, often);
  REQUIRE(in_time([&] { return verifies(by_itself, fixture.first); }));
  fixture.gives({&fixture.second});
  CHECK(in_time([&] { return !verifies(by_itself, fixture.first); }));
  CHECK(verifies(by_itself, fixture.second));
  CHECK(verifies(on_demand, fixture.first));
}

TEST_CASE("fetched keys: a failure leaves the previous ones in use, until the next success") {
  Fixture fixture;
  FetchedKeySet keys(fixture.endpoint, kOnDemand);
  REQUIRE(in_time([&] { return verifies(keys, fixture.first); }));
  const HttpsAnswer good = *fixture.answer.get();
  const std::string begin = "the previous keys stay in use: " + fixture.endpoint.url + ": ";
  const struct {
    HttpsAnswer answer;
    std::string error;
  } table[] = {
      {{.status = 500, .body = "etcd is away"}, "answered 500: etcd is away"},
      {{.status = 403, .body = "forbidden"}, "answered 403: forbidden"},
      {{.status = 302, .headers = "Location: https://127.0.0.1:1/\r\n"},
       "answered 302: a redirect, which is not followed"},
      {{.body = "<html>Log in</html>"}, "JSON: "},
      {{.body = "{\"keys\": [7]}"}, "keys[0]: expected an object, got the number 7"},
      {{.body = "{\"\x1b[2J\": []}"}, "JSON: "},
      {{.body = "{}"}, "the document: the key \"keys\" is missing"},
      {{.body = std::string(KeySet::kLargest + 1, ' ')}, "the answer is larger than 1048576 bytes"},
      {{.body = good.body, .end = End::cut}, ""},
      {{.body = good.body, .end = End::reset}, ""},
  };
  for (const auto& [bad, error] : table) {
    CAPTURE(error);
    CAPTURE(bad.body.size());
    fixture.answer.set(bad);
    keys.key_missing();
    CHECK(has_trouble(keys, begin + error));
    const std::string text = trouble(keys);
    CHECK(text.size() < 500);
    CHECK(std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; }));
    CHECK(verifies(keys, fixture.first));
    fixture.answer.set(good);
    CHECK(in_time([&] { return keys.state().ok(); }));
  }
  fixture.server.reset();
  keys.key_missing();
  CHECK(has_trouble(keys, begin));
  CHECK(verifies(keys, fixture.first));
}

TEST_CASE("fetched keys: an empty list withdraws all") {
  Fixture fixture;
  FetchedKeySet keys(fixture.endpoint, kOnDemand);
  REQUIRE(in_time([&] { return verifies(keys, fixture.first); }));
  fixture.gives({});
  keys.key_missing();
  CHECK(in_time([&] { return !verifies(keys, fixture.first); }));
  CHECK(keys.now().value()->keys().empty());
  const std::string none = fixture.endpoint.url + ": no keys: every token is refused";
  CHECK(trouble(keys) == none);
  FetchedKeySet of_next_process(fixture.endpoint, kOnDemand);
  REQUIRE(in_time([&] { return of_next_process.now().ok(); }));
  CHECK(trouble(of_next_process) == none);
  // A failure does not bring them back.
  fixture.answer.set({.status = 500});
  keys.key_missing();
  CHECK(has_trouble(keys,
                    "no keys: every token is refused: " + fixture.endpoint.url + ": answered 500"));
  CHECK_FALSE(verifies(keys, fixture.first));
  fixture.gives({&fixture.first});
  CHECK(in_time([&] { return verifies(keys, fixture.first); }));
}

TEST_CASE("fetched keys: a server that the CA does not vouch for is not asked") {
  Fixture fixture;
  const std::string file = fixture.endpoint.ca.string();
  const struct {
    std::string ca, error;
  } table[] = {
      {TestCa().certificate(), "certificate"},
      {"", file + ": expected certificates in PEM, got none"},
      {"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "certificate"},
  };
  FetchedKeySet keys(fixture.endpoint, kOnDemand);
  REQUIRE(in_time([&] { return keys.now().ok(); }));
  for (const auto& [ca, error] : table) {
    CAPTURE(ca);
    fixture.write("ca.crt", ca);
    FetchedKeySet other(fixture.endpoint, kOnDemand);
    CHECK(has_trouble(other, error));
    CHECK_FALSE(other.now());
    CHECK(fixture.fetches() == 1);
  }
  std::filesystem::remove(fixture.endpoint.ca);
  FetchedKeySet without(fixture.endpoint, kOnDemand);
  CHECK(has_trouble(without,
                    "no keys: every token is refused: " + fixture.endpoint.url + ": open " + file));
  CHECK(fixture.fetches() == 1);
  fixture.write("ca.crt", fixture.ca.certificate());
  CHECK(in_time([&] { return without.now().ok(); }));
  CHECK(without.state());
}

TEST_CASE("fetched keys: nothing but https is spoken") {
  Fixture fixture;
  fixture.endpoint.url = "http" + fixture.endpoint.url.substr(5);
  const FetchedKeySet keys(fixture.endpoint, kOnDemand);
  CHECK(has_trouble(keys, "rotocol"));
  CHECK(fixture.server->connections() == 0);
}

TEST_CASE("fetched keys: the token of the file is sent, whenever it is replaced, and never shown") {
  Fixture fixture;
  fixture.endpoint.token = fixture.write("token", "5ec7e7\n");
  FetchedKeySet keys(fixture.endpoint, kOnDemand);
  REQUIRE(in_time([&] { return keys.now().ok(); }));
  const auto sent = [&] { return fixture.server->requests().back().headers["authorization"]; };
  CHECK(sent() == "Bearer 5ec7e7");
  fixture.write("token", "0ther\n");
  keys.key_missing();
  CHECK(in_time([&] { return sent() == "Bearer 0ther"; }));
  fixture.answer.set({.status = 401, .body = "who is Bearer 0ther?"});
  // The fetch before may still be under way, and a missing key asks for no second one then.
  CHECK(in_time([&] { return keys.key_missing(), !trouble(keys).empty(); }));
  CHECK(has_trouble(keys, ": answered 401: who is Bearer ***?"));
  // Longer than what is shown of an answer.
  const std::string large(1 << 10, 'x');
  fixture.write("token", large + "\n");
  fixture.answer.set({.status = 401, .body = "no " + large + "!"});
  CHECK(has_trouble(keys, ": answered 401: no ***!"));
  fixture.write("token", "two words\n");
  CHECK(has_trouble(keys, fixture.endpoint.token.string()));
  CHECK(trouble(keys).find("words") == std::string::npos);
  CHECK(verifies(keys, fixture.first));
}

}  // namespace
}  // namespace ibpod::jwt
