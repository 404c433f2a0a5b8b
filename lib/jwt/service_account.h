// The claims of a Kubernetes service account token that is projected into a pod (TokenRequest):
// which pod of which service account runs on which node.
#pragma once

#include "lib/base/result.h"
#include "lib/json/value.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ibpod::jwt {

// Seconds by which the clocks of the issuer and of this machine may differ.
inline constexpr int64_t kLeeway = 30;

struct ObjectRef {
  std::string name;
  std::string uid;
  bool operator==(const ObjectRef&) const = default;
};

struct ServiceAccountClaims {
  std::string name_space;
  ObjectRef service_account, pod, node;
  bool operator==(const ServiceAccountClaims&) const = default;
};

struct ExpectedClaims {
  std::string issuer;
  std::string audience;                       // one of the token's
  std::vector<std::string> service_accounts;  // NAMESPACE/NAME, one of them
  int64_t now = 0;                            // seconds since 1970
};

// denied (refusal.h) unless `iss` is `expected`, or `aud` is it or has it. Also for a token that is
// not verified, to find the keys that verify it.
Status check_issuer(const json::Value& claims, const std::string& expected);
Status check_audience(const json::Value& claims, const std::string& expected);

// The claims of a verified token. denied (refusal.h), with the claim, its value and what was
// expected, unless `iss`, `aud`, `exp`, `nbf`, `iat` and `kubernetes.io` are all there and as
// expected. A token that is bound to no pod, or has no node, is refused: Kubernetes adds the node
// from 1.30 on.
Result<ServiceAccountClaims> check_claims(const json::Value& claims,
                                          const ExpectedClaims& expected);

}  // namespace ibpod::jwt
