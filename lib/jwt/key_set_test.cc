#include "lib/jwt/base64url.h"
#include "lib/jwt/followed_key_set.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_issuer.h"

#include <doctest/doctest.h>

namespace ibpod::jwt {
namespace {

using json::Value;

constexpr auto kRsa = TestIssuer::Kind::rsa;
constexpr auto kEc = TestIssuer::Kind::ec;

std::string error_of(const std::string& text) {
  const auto set = KeySet::parse(text);
  return set ? "" : set.error().text();
}

Status verify(const KeySet& keys, const std::string& token) {
  return keys.verify(Token::parse(token).value());
}

std::string claims() { return pod_claims("n1", 1000).text(); }

TEST_CASE("key set: a token of each kind of key is verified by its key alone") {
  const TestIssuer rsa("r1", kRsa), ec("e1", kEc);
  const KeySet keys = KeySet::parse(key_set_of({rsa.jwk(), ec.jwk()})).value();
  REQUIRE(keys.keys().size() == 2);
  CHECK(keys.keys()[0].algorithm() == Algorithm::rs256);
  CHECK(keys.keys()[1].algorithm() == Algorithm::es256);
  for (const TestIssuer* one : {&rsa, &ec}) {
    std::string token = one->sign(pod_claims("n1", 1000));
    CHECK(verify(keys, token));
    // The first character of the signature: all of its bits count.
    char& first = token.at(token.rfind('.') + 1);
    first = first == 'A' ? 'B' : 'A';
    CHECK(verify(keys, token).error().code() == Code::denied);
  }
  const TestIssuer other("r1", kRsa);
  CHECK(verify(keys, other.sign(pod_claims("n1", 1000))).error().text() ==
        "the signature is not that of the key \"r1\"");
  // The claims of one token with the signature of another.
  const std::string one = rsa.sign(pod_claims("n1", 1000));
  const std::string two = rsa.sign(pod_claims("n2", 1000));
  CHECK_FALSE(verify(keys, one.substr(0, one.rfind('.')) + two.substr(two.rfind('.'))));
}

TEST_CASE("key set: the key decides on the algorithm, never the token") {
  const TestIssuer rsa("r1", kRsa), ec("e1", kEc);
  const KeySet keys = KeySet::parse(key_set_of({rsa.jwk(), ec.jwk()})).value();
  CHECK(verify(keys, ec.sign(R"({"alg":"ES256","kid":"r1"})", claims())).error().text() ==
        R"(header alg: expected RS256, that of the key "r1", got ES256)");
  CHECK(verify(keys, ec.sign(R"({"alg":"RS256","kid":"e1"})", claims())).error().text() ==
        R"(header alg: expected ES256, that of the key "e1", got RS256)");
  CHECK(verify(keys, ec.sign(R"({"alg":"ES256","kid":"x"})", claims())).error().text() ==
        R"(header kid: expected a key of the issuer, "r1", "e1", got "x")");
}

TEST_CASE("key set: an ES256 signature is two numbers of 32 bytes, and no other form of them") {
  const TestIssuer ec("e1");
  const KeySet keys = KeySet::parse(key_set_of({ec.jwk()})).value();
  const std::string token = ec.sign(pod_claims("n1", 1000));
  const size_t begin = token.rfind('.') + 1;
  const std::string good = decode_base64url(token.substr(begin)).value();
  const auto error_with = [&](const std::string& signature) {
    const Status verified = verify(keys, token.substr(0, begin) + base64url(signature));
    return verified ? "" : verified.error().text();
  };
  REQUIRE(error_with(good).empty());
  const std::string zero(1, '\0');
  CHECK(error_with(good + zero) == "the signature: expected 64 bytes, got 65");
  CHECK(error_with(zero + good.substr(0, 32) + zero + good.substr(32)) ==
        "the signature: expected 64 bytes, got 66");
  CHECK(error_with(good.substr(1)) == "the signature: expected 64 bytes, got 63");
  CHECK(error_with(std::string(64, '\0')) == "the signature is not that of the key \"e1\"");
}

TEST_CASE("key set: keys that can sign no token are left out") {
  const TestIssuer ec("e1"), large("e2", kEc, 384);
  const auto with = [](Value jwk, const char* key, const char* value) {
    return jwk.set(key, value);
  };
  const std::string text =
      key_set_of({ec.jwk(), large.jwk(), with(ec.jwk(), "use", "enc"),
                  with(ec.jwk(), "alg", "ES384"), with(ec.jwk(), "kty", "OKP")});
  const KeySet keys = KeySet::parse(text).value();
  CHECK(keys.keys().size() == 1);
}

TEST_CASE("key set: what cannot be used is refused, with its place") {
  const TestIssuer ec("e1"), small("r1", kRsa, 1024);
  Value without_kid = ec.jwk();
  without_kid.erase("kid");
  Value point = ec.jwk();
  point.set("x", base64url(std::string(32, '\1')));
  Value secret = ec.jwk();
  secret.set("d", "AAAA");
  const struct {
    std::string text, error;
  } table[] = {
      {"{}", "the document: the key \"keys\" is missing"},
      {"[]", "the document: expected an object, got a list"},
      {key_set_of({TestIssuer("e2", kEc, 384).jwk()}),
       "keys: expected a key for RS256 or ES256, got none"},
      {key_set_of({without_kid}), "keys[0]: the key \"kid\" is missing"},
      {key_set_of({ec.jwk(), ec.jwk()}), "keys[1]: two keys have the kid \"e1\""},
      {key_set_of({secret}), "keys[0]: has \"d\", which is secret: expected public keys only"},
      {R"({"keys": [{"kty": "oct", "kid": "s", "k": "AAAA"}]})",
       "keys[0]: has \"k\", which is secret: expected public keys only"},
      {R"({"keys": [7]})", "keys[0]: expected an object, got the number 7"},
      {R"({"keys": [{"kty": 7}]})", "keys[0].kty: expected a string, got the number 7"},
      {key_set_of({small.jwk()}), "keys[0]: expected an RSA key of 2048 to 8192 bits, got 1024"},
      {key_set_of(std::vector<Value>(101, Value::object())),
       "keys: expected at most 100 keys, got 101"},
      {std::string(KeySet::kLargest + 1, ' '),
       "the key set has 1048577 bytes: expected at most 1048576"},
  };
  for (const auto& [text, error] : table) CHECK(error_of(text) == error);
  CHECK(error_of(key_set_of({point})).starts_with("keys[0]: cannot be used as a key of type EC"));
  CHECK(error_of(R"({"keys": [{"kty": "RSA", "kid": "a"}]})") ==
        "keys[0]: the key \"n\" is missing");
  const TestIssuer rsa("r2", kRsa);
  // Padding, lengths that no bytes have, and other characters, in each number.
  for (const auto& [jwk, numbers] :
       {std::pair{rsa.jwk(), std::pair{"n", "e"}}, std::pair{ec.jwk(), std::pair{"x", "y"}}})
    for (const char* const number : {numbers.first, numbers.second})
      for (const char* const text : {"", "A", "AAAAA", "AA==", "A=AA", "AA=AAAAA", "AA A", "AAB"}) {
        Value wrong = jwk;
        wrong.set(number, text);
        CHECK(error_of(key_set_of({wrong})) ==
              std::string("keys[0].") + number + ": expected base64url without padding");
      }
}

TEST_CASE("followed key set: the issuer's next keys are used once they are in the file") {
  const TempFolder folder;
  const Path file = folder.path() / "jwks.json";
  CHECK(FollowedKeySet::open(file).error().code() == Code::not_found);
  const TestIssuer before("k1"), after("k2");
  REQUIRE(write_file_atomically(file, key_set_of({before.jwk()})));
  const auto followed = FollowedKeySet::open(file).value();
  const auto first = followed->now().value();
  CHECK(followed->now().value() == first);
  CHECK(verify(*first, before.sign(pod_claims("n1", 1000))));

  REQUIRE(write_file_atomically(file, key_set_of({before.jwk(), after.jwk()})));
  CHECK(verify(**followed->now(), before.sign(pod_claims("n1", 1000))));
  CHECK(verify(**followed->now(), after.sign(pod_claims("n1", 1000))));

  REQUIRE(write_file_atomically(file, key_set_of({after.jwk()})));
  CHECK_FALSE(verify(**followed->now(), before.sign(pod_claims("n1", 1000))));
  CHECK(followed->state());

  REQUIRE(write_file_atomically(file, "{\"keys\": [7]}"));
  CHECK(verify(**followed->now(), after.sign(pod_claims("n1", 1000))));
  CHECK(followed->state().error().text() == "the previous keys stay in use: " + file.string() +
                                                ": keys[0]: expected an object, got the number 7");
  std::filesystem::remove(file);
  CHECK(verify(**followed->now(), after.sign(pod_claims("n1", 1000))));
  CHECK(followed->state().error().code() == Code::not_found);
}

TEST_CASE("followed key set: an empty list withdraws all keys, also at the start") {
  const TempFolder folder;
  const Path file = folder.path() / "jwks.json";
  const TestIssuer issuer("k1");
  REQUIRE(write_file_atomically(file, key_set_of({issuer.jwk()})));
  const auto followed = FollowedKeySet::open(file).value();
  REQUIRE(write_file_atomically(file, key_set_of({})));
  const auto of_next_process = FollowedKeySet::open(file).value();
  for (FollowedKeySet* one : {followed.get(), of_next_process.get()}) {
    CHECK(verify(**one->now(), issuer.sign(pod_claims("n1", 1000))).error().text() ==
          "header kid: expected a key of the issuer, which has none, got \"k1\"");
    CHECK(one->state().error().text() == file.string() + ": no keys: every token is refused");
  }
  REQUIRE(write_file_atomically(file, key_set_of({issuer.jwk()})));
  CHECK(verify(**followed->now(), issuer.sign(pod_claims("n1", 1000))));
  CHECK(followed->state());
}

}  // namespace
}  // namespace ibpod::jwt
