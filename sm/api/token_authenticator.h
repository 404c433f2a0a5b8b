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

namespace ibpod::sm::api {

// Thread-safe.
class TokenAuthenticator {
 public:
  // Seconds since 1970.
  using Clock = std::function<int64_t()>;
  static Clock system_clock();
  // Fails if the file of keys cannot be used. A server of keys is asked from now on, and may be
  // away.
  static Result<std::unique_ptr<TokenAuthenticator>> open(Cluster cluster,
                                                          Clock clock = system_clock());

  TokenAuthenticator(Cluster cluster, std::unique_ptr<jwt::KeySource> keys, Clock clock)
      : cluster_(std::move(cluster)), keys_(std::move(keys)), clock_(std::move(clock)) {}

  // The node that the token of "Bearer TOKEN" is for. denied, with the reason and never with the
  // token, for no token and for any but a valid one of the cluster's service accounts. unavailable
  // as long as the cluster's keys are not known. A token with an unknown key has them fetched.
  Result<fabricapi::Caller> identify(std::string_view authorization) const;
  // Why the keys are not in use as the cluster has them now, or that it has none.
  Status keys() const;

 private:
  Result<fabricapi::Caller> verify(std::string_view token) const;

  const Cluster cluster_;
  const std::unique_ptr<jwt::KeySource> keys_;
  const Clock clock_;
};

}  // namespace ibpod::sm::api
