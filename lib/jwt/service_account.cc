#include "lib/jwt/service_account.h"

#include "lib/base/dns_name.h"
#include "lib/base/join.h"
#include "lib/jwt/refusal.h"

#include <algorithm>

namespace ibpod::jwt {
namespace {

using json::Value;

constexpr size_t kMostListed = 3;

Error wrong_claim(const std::string& path, const std::string& text) {
  return refusal("claim " + path + ": " + text);
}

// A path below the claims, whose errors are refusals. `expected`: what is missing, in words.
Result<Value> claim(const Value& object, const std::string& key, const std::string& expected = "") {
  std::optional<Value> member = object.find(key);
  if (member) return *std::move(member);
  return wrong_claim(object.path().empty() ? key : object.path() + "." + key,
                     expected.empty() ? "is missing" : "is missing: expected " + expected);
}

Result<std::string> text_claim(const Value& object, const std::string& key) {
  const Value value = TRY(claim(object, key));
  const Result<std::string> text = value.string();
  if (text) return *text;
  return refusal("claim " + text.error().text());
}

// Seconds since 1970, before the year 10000.
Result<int64_t> time_claim(const Value& claims, const std::string& key) {
  const Value value = TRY(claim(claims, key));
  const Result<int64_t> time = value.integer(0, 253'402'300'799);
  if (time) return *time;
  return refusal("claim " + time.error().text());
}

std::string at(int64_t time) { return " (at " + std::to_string(time) + ")"; }

Status check_times(const Value& claims, int64_t now) {
  const int64_t expires = TRY(time_claim(claims, "exp"));
  const int64_t begins = TRY(time_claim(claims, "nbf"));
  const int64_t issued = TRY(time_claim(claims, "iat"));
  if (now >= expires + kLeeway)
    return wrong_claim(
        "exp", "the token expired " + std::to_string(now - expires) + " s ago" + at(expires));
  if (now < begins - kLeeway)
    return wrong_claim("nbf", "the token is valid in " + std::to_string(begins - now) + " s" +
                                  at(begins) + ": check the clocks");
  if (now < issued - kLeeway)
    return wrong_claim("iat", "the token is issued in " + std::to_string(issued - now) + " s" +
                                  at(issued) + ": check the clocks");
  return ok();
}

Result<std::string> name_claim(const Value& object, const std::string& key) {
  std::string text = TRY(text_claim(object, key));
  if (is_dns_subdomain(text)) return text;
  return wrong_claim(object.path() + "." + key,
                     "expected the name of a Kubernetes object, got " + Value(text).ascii());
}

Result<ObjectRef> object_claim(const Value& object) {
  constexpr size_t kLongestUid = 128;
  ObjectRef reference;
  reference.name = TRY(name_claim(object, "name"));
  reference.uid = TRY(text_claim(object, "uid"));
  const size_t size = reference.uid.size();
  if (size > 0 && size <= kLongestUid) return reference;
  return wrong_claim(object.path() + ".uid", "expected 1 to " + std::to_string(kLongestUid) +
                                                 " bytes, got " + std::to_string(size));
}

Result<ServiceAccountClaims> read_claims(const Value& claims) {
  const Value kubernetes = TRY(claim(claims, "kubernetes.io"));
  ServiceAccountClaims read;
  read.name_space = TRY(name_claim(kubernetes, "namespace"));
  const Value account = TRY(claim(kubernetes, "serviceaccount"));
  read.service_account = TRY(object_claim(account));
  const Value pod = TRY(claim(kubernetes, "pod", "a token that is projected into a pod"));
  read.pod = TRY(object_claim(pod));
  const Value node =
      TRY(claim(kubernetes, "node", "the pod's node, which Kubernetes 1.30 and later add"));
  read.node = TRY(object_claim(node));
  return read;
}

}  // namespace

Status check_issuer(const Value& claims, const std::string& expected) {
  const std::string issuer = TRY(text_claim(claims, "iss"));
  if (issuer == expected) return ok();
  return wrong_claim("iss",
                     "expected " + Value(expected).ascii() + ", got " + Value(issuer).ascii());
}

// A string, or a list of strings (RFC 7519, 4.1.3).
Status check_audience(const Value& claims, const std::string& expected) {
  const Value audience = TRY(claim(claims, "aud"));
  std::vector<Value> all{audience};
  if (audience.is_array()) all = TRY(audience.elements());
  for (const Value& one : all) {
    const Result<std::string> text = one.string();
    if (!text) return refusal("claim " + text.error().text());
    if (*text == expected) return ok();
  }
  return wrong_claim("aud", "expected " + expected + ", got " + audience.ascii());
}

Result<ServiceAccountClaims> check_claims(const Value& claims, const ExpectedClaims& expected) {
  TRY(check_issuer(claims, expected.issuer));
  TRY(check_audience(claims, expected.audience));
  TRY(check_times(claims, expected.now));
  ServiceAccountClaims read = TRY(read_claims(claims));
  const std::string account = read.name_space + "/" + read.service_account.name;
  const auto& accounts = expected.service_accounts;
  if (std::find(accounts.begin(), accounts.end(), account) != accounts.end()) return read;
  return wrong_claim("kubernetes.io.serviceaccount",
                     "expected " + join_first(kMostListed, accounts) + ", got " + account);
}

}  // namespace ibpod::jwt
