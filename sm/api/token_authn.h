// TokenAuthenticator: authentication of agents by the projected service account tokens of their
// pods.
#pragma once

#include "lib/fabricapi/caller.h"
#include "lib/json/value.h"
#include "lib/jwt/fetched_key_set.h"
#include "lib/jwt/key_source.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ibpod::sm::api {

// A Kubernetes cluster, which is the issuer of its tokens.
struct Cluster {
  std::string name;    // a DNS label
  std::string issuer;  // `iss` of its tokens
  // Its JSON Web Key Set: a file, or a server that has it.
  std::variant<Path, jwt::KeyEndpoint> keys;
  std::vector<std::string> service_accounts = {"ibpod/ibpod-agent"};  // NAMESPACE/NAME
  // One of `aud` of its tokens. An ibpod-sm can use a token that it got at every other one with the
  // same audience.
  std::string audience = "ibpod-sm";
  bool operator==(const Cluster&) const = default;
};

// [{"name": "prod", "issuer": "https://kubernetes.default.svc.cluster.local", "keys":
// "/etc/ibpod/prod.jwks", "serviceAccounts": ["ibpod/ibpod-agent"], "audience": "ibpod-sm"}].
// "keys" may also be {"url": "https://kubernetes.default.svc/openid/v1/jwks", "ca":
// "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt", "token":
// "/var/run/secrets/kubernetes.io/serviceaccount/token"}, the last one optional.
// Nothing for an empty list. Errors have the path of the wrong value; more than one cluster is an
// error, as the names of nodes and namespaces do not carry their cluster.
Result<std::optional<Cluster>> read_clusters(const json::Value& value);

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
