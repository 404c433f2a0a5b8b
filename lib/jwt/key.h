// Key: one public key of a token issuer, and the check of a signature by it.
#pragma once

#include "lib/jwt/token.h"

#include <memory>
#include <optional>
#include <string>

// libcjose's; no header of its own reaches the logic.
struct _cjose_jwk_int;  // NOLINT(bugprone-reserved-identifier): its name there

namespace ibpod::jwt {

// From any thread, as nothing changes it.
class Key {
 public:
  // A JSON Web Key (RFC 7517). Nothing for a key that signs no token of an Algorithm: another type,
  // curve, use or algorithm. invalid, with the path, for a private or secret key, for an RSA key of
  // fewer than 2,048 bits or more than 8,192, for a key without `kid`, and for one that cannot be
  // used.
  static Result<std::optional<Key>> read(const json::Value& value);

  const std::string& id() const { return id_; }
  Algorithm algorithm() const { return algorithm_; }
  // ok if the token is signed by this key. denied otherwise, also if its algorithm is not this
  // key's.
  Status verify(const Token& token) const;

 private:
  using Jwk = std::shared_ptr<const _cjose_jwk_int>;
  Key(std::string id, Algorithm algorithm, Jwk jwk)
      : id_(std::move(id)), algorithm_(algorithm), jwk_(std::move(jwk)) {}
  std::string id_;
  Algorithm algorithm_;
  Jwk jwk_;
};

}  // namespace ibpod::jwt
