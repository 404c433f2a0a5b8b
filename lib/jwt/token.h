// Token: a JSON Web Token (RFC 7519) in its compact form, decoded. Nothing of it is to be believed
// before KeySet::verify().
#pragma once

#include "lib/base/result.h"
#include "lib/json/value.h"

#include <optional>
#include <string>
#include <string_view>

namespace ibpod::jwt {

// Bytes. Those of Kubernetes have one or two thousand.
inline constexpr size_t kLargestToken = 16 << 10;

// The signatures that are accepted: by a public key only, so that no key of a set can be used as a
// secret. ES256 is that of the curve P-256.
enum class Algorithm { rs256, es256 };
std::string_view name(Algorithm algorithm);
std::optional<Algorithm> find_algorithm(std::string_view name);

struct Token {
  // denied (refusal.h) unless it has three parts in base64url, a header with `alg`, one of
  // Algorithm, and `kid`, without `crit`, and claims that are a JSON object without duplicate keys.
  static Result<Token> parse(std::string_view text);

  std::string text;
  Algorithm algorithm = Algorithm::rs256;
  std::string key_id;
  json::Value claims;
  size_t signature_bytes = 0;
};

}  // namespace ibpod::jwt
