#include "sm/api/token_authenticator.h"

#include "lib/base/join.h"
#include "lib/fabric/cluster_names.h"
#include "lib/jwt/followed_key_set.h"
#include "lib/jwt/refusal.h"
#include "lib/jwt/service_account.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <optional>
#include <set>

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

std::string listed(const std::vector<const Issuer*>& issuers) {
  constexpr size_t kMostListed = 3;
  return join_first(kMostListed, issuers,
                    [](const Issuer* issuer) { return issuer->cluster.name; });
}

Status check_signature(const Issuer& issuer, const jwt::Token& token) {
  const std::shared_ptr<const jwt::KeySet> keys = TRY(issuer.keys->now());
  return keys->verify(token);
}

// An issuer that the token names, and whether its keys have signed it.
struct Candidate {
  const Issuer* issuer;
  Status signature;
};

// An issuer without the token's key may have newer ones.
void fetch_missing_keys(const std::vector<Candidate>& candidates, const jwt::Token& token) {
  for (const Candidate& one : candidates) {
    const auto keys = one.issuer->keys->now();
    if (keys && !(*keys)->has(token.key_id)) one.issuer->keys->key_missing();
  }
}

// The reason why no candidate has signed the token. While the keys of one are not known, it may be
// the one.
Error not_signed(const std::vector<Candidate>& candidates) {
  std::vector<const Issuer*> issuers;
  for (const Candidate& one : candidates) {
    if (one.signature.error().code() == Code::unavailable) return one.signature.error();
    issuers.push_back(one.issuer);
  }
  Error reason = candidates.front().signature.error();
  if (candidates.size() == 1) return reason;
  return std::move(reason).during("none of the clusters " + listed(issuers) +
                                  " with this issuer has signed it");
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

// First by the claim, as the keys of another issuer are others.
Result<std::vector<const Issuer*>> TokenAuthenticator::issuers_named_by(
    const jwt::Token& token) const {
  std::set<std::string> known;
  for (const Issuer& one : issuers_) known.insert(one.cluster.issuer);
  const std::string named = TRY(jwt::issuer_of(token.claims, known));
  std::vector<const Issuer*> issuers;
  for (const Issuer& one : issuers_)
    if (one.cluster.issuer == named) issuers.push_back(&one);
  return issuers;
}

// If the keys of two clusters have signed it, one has a copy of the other's keys: then its nodes
// could act for those of the other.
Result<const Issuer*> TokenAuthenticator::signer_of(const jwt::Token& token) const {
  std::vector<Candidate> candidates;
  std::vector<const Issuer*> signers;
  const std::vector<const Issuer*> issuers = TRY(issuers_named_by(token));
  for (const Issuer* const one : issuers) {
    candidates.push_back({one, check_signature(*one, token)});
    if (candidates.back().signature) signers.push_back(one);
  }
  if (signers.size() == 1) return signers.front();
  if (!signers.empty())
    return jwt::refusal("the clusters " + listed(signers) +
                        " have the same issuer and the same key: give each its own keys");
  fetch_missing_keys(candidates, token);
  return not_signed(candidates);
}

Result<Caller> TokenAuthenticator::verify(std::string_view text) const {
  const jwt::Token token = TRY(jwt::Token::parse(text));
  const Issuer* const signer = TRY(signer_of(token));
  const Cluster& cluster = signer->cluster;
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
