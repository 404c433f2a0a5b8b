#include "sm/api/token_authenticator.h"

#include "lib/jwt/followed_key_set.h"
#include "lib/jwt/service_account.h"

#include <algorithm>
#include <cctype>
#include <chrono>

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

}  // namespace

TokenAuthenticator::Clock TokenAuthenticator::system_clock() {
  return [] {
    return int64_t{std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())};
  };
}

Result<std::unique_ptr<TokenAuthenticator>> TokenAuthenticator::open(Cluster cluster, Clock clock) {
  std::unique_ptr<jwt::KeySource> keys = TRY(open_keys(cluster.keys).during("clusters[0].keys"));
  return std::make_unique<TokenAuthenticator>(std::move(cluster), std::move(keys),
                                              std::move(clock));
}

Result<Caller> TokenAuthenticator::identify(std::string_view authorization) const {
  if (authorization.empty())
    return Error(Code::denied, "the caller has no certificate and no token");
  const std::optional<std::string_view> token = token_in(authorization);
  if (!token) return Error(Code::denied, "authorization: expected Bearer and a token");
  return verify(*token).during("token");
}

Result<Caller> TokenAuthenticator::verify(std::string_view text) const {
  const jwt::Token token = TRY(jwt::Token::parse(text));
  // First, as the keys of another cluster are others, too.
  TRY(jwt::check_issuer(token.claims, cluster_.issuer));
  const std::shared_ptr<const jwt::KeySet> keys = TRY(keys_->now());
  if (!keys->has(token.key_id)) keys_->key_missing();
  TRY(keys->verify(token));
  const jwt::ServiceAccountClaims claims = TRY(jwt::check_claims(
      token.claims, {cluster_.issuer, cluster_.audience, cluster_.service_accounts, clock_()}));
  const std::string name = "system:serviceaccount:" + claims.name_space + ":" +
                           claims.service_account.name + ", pod " + claims.pod.name + " on node " +
                           claims.node.name + " of cluster " + cluster_.name;
  return Caller{Role::node, claims.node.name, name, cluster_.name};
}

Status TokenAuthenticator::keys() const {
  (void)keys_->now();  // looks at the file, if there is one
  return keys_->state();
}

}  // namespace ibpod::sm::api
