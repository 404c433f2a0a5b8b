// Cluster: a Kubernetes cluster whose agents authenticate by tokens.
#pragma once

#include "lib/base/files.h"
#include "lib/json/value.h"
#include "lib/jwt/fetched_key_set.h"

#include <optional>
#include <string>
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

}  // namespace ibpod::sm::api
