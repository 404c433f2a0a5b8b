// Cluster: a Kubernetes cluster whose agents authenticate by tokens.
#pragma once

#include "lib/base/files.h"
#include "lib/fabric/cluster_names.h"
#include "lib/json/value.h"
#include "lib/jwt/fetched_key_set.h"

#include <string>
#include <variant>
#include <vector>

namespace ibpod::sm::api {

// A Kubernetes cluster, which is the issuer of its tokens. The audiences tell clusters with one
// issuer apart.
struct Cluster {
  std::string name;    // a DNS label
  std::string issuer;  // `iss` of its tokens
  // Its JSON Web Key Set: a file, or a server that has it.
  std::variant<Path, jwt::KeyEndpoint> keys;
  std::vector<std::string> service_accounts = {"ibpod/ibpod-agent"};  // NAMESPACE/NAME
  // One of `aud` of its tokens. An ibpod-sm can use a token that it got at every other one with the
  // same audience.
  std::string audience = "ibpod-sm";
  // True: the names of its nodes and namespaces have no cluster in front, as those of hosts with a
  // certificate.
  bool is_default = true;
  bool operator==(const Cluster&) const = default;
};

// [{"name": "prod", "issuer": "https://kubernetes.default.svc.cluster.local", "keys":
// "/etc/ibpod/prod.jwks", "serviceAccounts": ["ibpod/ibpod-agent"], "audience": "ibpod-sm"}].
// No two may have the same issuer and audience, or the same issuer and place of keys.
// "keys" may also be {"url": "https://kubernetes.default.svc/openid/v1/jwks", "ca":
// "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt", "token":
// "/var/run/secrets/kubernetes.io/serviceaccount/token"}, the last one optional.
// One alone is the default cluster unless it has "default": false; of several each has to have
// "default", and at most one is true: removing a cluster never changes the names of another one.
// Errors have the path of the wrong value.
Result<std::vector<Cluster>> read_clusters(const json::Value& value);

fabric::ClusterNames names_of(const std::vector<Cluster>& clusters);

}  // namespace ibpod::sm::api
