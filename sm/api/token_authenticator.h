// TokenAuthenticator: authentication of agents by the projected service account tokens of their
// pods.
#pragma once

#include "lib/fabricapi/caller.h"
#include "lib/jwt/key_source.h"
#include "sm/api/cluster.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::sm::api {

// Thread-safe.
class TokenAuthenticator {
 public:
  // Seconds since 1970.
  using Clock = std::function<int64_t()>;
  static Clock system_clock();
  // Fails if a file of keys cannot be used. Servers of keys are asked from now on, and may be away.
  static Result<std::unique_ptr<TokenAuthenticator>> open(const std::vector<Cluster>& clusters,
                                                          Clock clock = system_clock());

  struct Issuer {
    Cluster cluster;
    std::unique_ptr<jwt::KeySource> keys;
  };
  TokenAuthenticator(std::vector<Issuer> issuers, Clock clock)
      : issuers_(std::move(issuers)), clock_(std::move(clock)) {}

  // The node that the token of "Bearer TOKEN" is for. denied, with the reason and never with the
  // token, for no token and for any but a valid one of a cluster's service accounts. unavailable
  // as long as the keys of the cluster that it names are not known. A token with an unknown
  // key has them fetched.
  Result<fabricapi::Caller> identify(std::string_view authorization) const;
  // For each cluster, in their order: why its keys are not in use as it has them now, or that it
  // has none.
  std::vector<Status> keys() const;

 private:
  Result<fabricapi::Caller> verify(std::string_view token) const;
  Result<const Issuer*> issuer_of(const jwt::Token& token) const;

  const std::vector<Issuer> issuers_;
  const Clock clock_;
};

}  // namespace ibpod::sm::api
