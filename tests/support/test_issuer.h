// An issuer of service account tokens for tests: a key that is made at run time, its form in a key
// set, and tokens that are signed by it, or not as they should be.
#pragma once

#include "lib/json/value.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod {

std::string base64url(std::string_view bytes);

// HEADER.CLAIMS in base64url, to which a signature belongs.
std::string unsigned_token(const std::string& header, const std::string& claims);
// Signed with HMAC-SHA256 by a secret.
std::string hmac_token(const std::string& header, const std::string& claims,
                       const std::string& secret);

class TestIssuer {
 public:
  enum class Kind { rsa, ec };
  // `size`: bits of RSA, or nothing for the curve P-256 and 384 for P-384.
  explicit TestIssuer(std::string kid, Kind kind = Kind::ec, unsigned size = 2048);
  TestIssuer(const TestIssuer&) = delete;
  TestIssuer& operator=(const TestIssuer&) = delete;
  ~TestIssuer();

  json::Value jwk() const;
  // The public key.
  std::string pem() const;
  // With the header that belongs to the key, or another one.
  std::string sign(const json::Value& claims) const { return sign(header(), claims.text()); }
  std::string sign(const std::string& header, const std::string& claims) const;
  std::string header() const;

 private:
  struct Pair;
  const std::string kid_;
  const Kind kind_;
  std::unique_ptr<Pair> pair_;
};

// The text of a key set.
std::string key_set_of(const std::vector<json::Value>& keys);

// As Kubernetes 1.30 has them, for a pod of ibpod/ibpod-agent, of the issuer kTestIssuer, for an
// hour from 60 s before `now`.
inline constexpr std::string_view kTestIssuer = "https://kubernetes.default.svc.cluster.local";
json::Value pod_claims(const std::string& node, int64_t now);

}  // namespace ibpod
