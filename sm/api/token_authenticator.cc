#include "sm/api/token_authenticator.h"

#include "lib/fabric/cluster_names.h"
#include "lib/jwt/followed_key_set.h"
#include "lib/jwt/refusal.h"
#include "lib/jwt/service_account.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <optional>

namespace ibpod::sm::api {
namespace {

using fabricapi::Caller;
using fabricapi::Role;

// The token after the scheme, whose case does not matter (RFC 7235, 2.1).
std::optional<std::string_view> token_in(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() <= kScheme.size()) return std::nullopt;
  const bool bearer =
      std::equal(kScheme.begin(), kScheme.end(), authorization.begin(), [](char wanted, char got) {
        return wanted == std::tolower(static_cast<unsigned char>(got));
      });
  if (!bearer) return std::nullopt;
  return authorization.substr(kScheme.size());
}

Result<std::unique_ptr<jwt::KeySource>> open_keys(const decltype(Cluster::keys)& keys) {
  if (const auto* const endpoint = std::get_if<jwt::KeyEndpoint>(&keys))
    return std::unique_ptr<jwt::KeySource>(std::make_unique<jwt::FetchedKeySet>(*endpoint));
  std::unique_ptr<jwt::KeySource> followed = TRY(jwt::FollowedKeySet::open(std::get<Path>(keys)));
  return followed;
}

using Issuer = TokenAuthenticator::Issuer;

// Keys without the token's may be out of date.
Status check_signature(const Issuer& issuer, const jwt::Token& token) {
  const std::shared_ptr<const jwt::KeySet> keys = TRY(issuer.keys->now());
  if (!keys->has(token.key_id)) issuer.keys->key_missing();
  return keys->verify(token);
}

bool names(const jwt::Token& token, const Cluster& cluster) {
  return jwt::check_issuer(token.claims, cluster.issuer) &&
         jwt::check_audience(token.claims, cluster.audience);
}

}  // namespace

TokenAuthenticator::Clock TokenAuthenticator::system_clock() {
  return [] {
    return int64_t{std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())};
  };
}

Result<std::unique_ptr<TokenAuthenticator>> TokenAuthenticator::open(
    const std::vector<Cluster>& clusters, Clock clock) {
  std::vector<Issuer> issuers;
  for (size_t i = 0; i < clusters.size(); ++i) {
    const std::string where = "clusters[" + std::to_string(i) + "].keys";
    std::unique_ptr<jwt::KeySource> keys = TRY(open_keys(clusters[i].keys).during(where));
    issuers.push_back({clusters[i], std::move(keys)});
  }
  return std::make_unique<TokenAuthenticator>(std::move(issuers), std::move(clock));
}

Result<Caller> TokenAuthenticator::identify(std::string_view authorization) const {
  if (authorization.empty())
    return Error(Code::denied, "the caller has no certificate and no token");
  const std::optional<std::string_view> token = token_in(authorization);
  if (!token) return Error(Code::denied, "authorization: expected Bearer and a token");
  return verify(*token).during("token");
}

// By `iss` and `aud`, which no two clusters have in common: then only that cluster's keys count,
// and it does no harm if another one has a copy of them. The caller is not authenticated yet, and
// does not get to know the clusters.
Result<const Issuer*> TokenAuthenticator::issuer_of(const jwt::Token& token) const {
  if (issuers_.size() == 1) {
    TRY(jwt::check_issuer(token.claims, issuers_.front().cluster.issuer));
    return &issuers_.front();
  }
  std::vector<const Issuer*> named;
  for (const Issuer& one : issuers_)
    if (names(token, one.cluster)) named.push_back(&one);
  if (named.size() == 1) return named.front();
  const auto quoted = [&](const char* claim) {
    const std::optional<json::Value> value = token.claims.find(claim);
    return value ? value->ascii() : "nothing";
  };
  return jwt::refusal(
      "claims aud and iss: expected the audience and the issuer of one cluster of "
      "ibpod-sm's configuration, got " +
      quoted("aud") + " and " + quoted("iss"));
}

Result<Caller> TokenAuthenticator::verify(std::string_view text) const {
  const jwt::Token token = TRY(jwt::Token::parse(text));
  const Issuer* const issuer = TRY(issuer_of(token));
  TRY(check_signature(*issuer, token));
  const Cluster& cluster = issuer->cluster;
  const jwt::ServiceAccountClaims claims = TRY(jwt::check_claims(
      token.claims, {cluster.issuer, cluster.audience, cluster.service_accounts, clock_()}));
  const std::string name = "system:serviceaccount:" + claims.name_space + ":" +
                           claims.service_account.name + ", pod " + claims.pod.name + " on node " +
                           claims.node.name + " of cluster " + cluster.name;
  const std::string node =
      cluster.is_default ? claims.node.name : fabric::with_cluster(cluster.name, claims.node.name);
  return Caller{Role::node, node, name, cluster.name};
}

std::vector<Status> TokenAuthenticator::keys() const {
  std::vector<Status> all;
  for (const Issuer& one : issuers_) {
    (void)one.keys->now();  // looks at the file, if there is one
    all.push_back(one.keys->state());
  }
  return all;
}

}  // namespace ibpod::sm::api
