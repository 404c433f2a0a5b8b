#include "tests/support/test_issuer.h"

#include <array>
#include <cstdlib>
#include <utility>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

namespace ibpod {
namespace {

void require(bool success) {
  if (!success) std::abort();
}

const unsigned char* bytes_of(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string bytes_of(const BIGNUM* number, size_t size) {
  std::string bytes(size, '\0');
  require(BN_bn2binpad(number, reinterpret_cast<unsigned char*>(bytes.data()),
                       static_cast<int>(size)) == static_cast<int>(size));
  return bytes;
}

// `size` 0: as many bytes as it has.
std::string parameter(EVP_PKEY* key, const char* name, size_t size) {
  BIGNUM* number = nullptr;
  require(EVP_PKEY_get_bn_param(key, name, &number) == 1);
  std::string bytes =
      bytes_of(number, size == 0 ? static_cast<size_t>(BN_num_bytes(number)) : size);
  BN_free(number);
  return base64url(bytes);
}

// The two numbers of an ECDSA signature in DER, each with 32 bytes (RFC 7518, 3.4).
std::string raw_signature(const std::string& der) {
  const unsigned char* at = bytes_of(der);
  ECDSA_SIG* pair = d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size()));
  require(pair != nullptr);
  std::string raw = bytes_of(ECDSA_SIG_get0_r(pair), 32) + bytes_of(ECDSA_SIG_get0_s(pair), 32);
  ECDSA_SIG_free(pair);
  return raw;
}

}  // namespace

std::string base64url(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  uint32_t gathered = 0;
  int count = 0;
  for (const char byte : bytes) {
    gathered = gathered << 8 | static_cast<unsigned char>(byte);
    for (count += 8; count >= 6; count -= 6) text += kDigits[gathered >> (count - 6) & 63];
  }
  if (count > 0) text += kDigits[gathered << (6 - count) & 63];
  return text;
}

std::string unsigned_token(const std::string& header, const std::string& claims) {
  return base64url(header) + "." + base64url(claims);
}

std::string hmac_token(const std::string& header, const std::string& claims,
                       const std::string& secret) {
  const std::string text = unsigned_token(header, claims);
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
  unsigned size = 0;
  require(HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), bytes_of(text),
               text.size(), mac.data(), &size) != nullptr);
  return text + "." + base64url({reinterpret_cast<const char*>(mac.data()), size});
}

struct TestIssuer::Pair {
  EVP_PKEY* key;
  explicit Pair(EVP_PKEY* made) : key(made) { require(key != nullptr); }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() { EVP_PKEY_free(key); }
};

TestIssuer::TestIssuer(std::string kid, Kind kind, unsigned size)
    : kid_(std::move(kid)),
      kind_(kind),
      pair_(std::make_unique<Pair>(
          kind == Kind::rsa ? EVP_RSA_gen(size) : EVP_EC_gen(size == 384 ? "P-384" : "P-256"))) {}
TestIssuer::~TestIssuer() = default;

json::Value TestIssuer::jwk() const {
  json::Value jwk = json::Value::object();
  jwk.set("kid", kid_).set("use", "sig");
  if (kind_ == Kind::rsa)
    return jwk.set("kty", "RSA")
        .set("alg", "RS256")
        .set("n", parameter(pair_->key, OSSL_PKEY_PARAM_RSA_N, 0))
        .set("e", parameter(pair_->key, OSSL_PKEY_PARAM_RSA_E, 0));
  const bool large = EVP_PKEY_get_bits(pair_->key) == 384;
  return jwk.set("kty", "EC")
      .set("crv", large ? "P-384" : "P-256")
      .set("x", parameter(pair_->key, OSSL_PKEY_PARAM_EC_PUB_X, large ? 48 : 32))
      .set("y", parameter(pair_->key, OSSL_PKEY_PARAM_EC_PUB_Y, large ? 48 : 32));
}

std::string TestIssuer::pem() const {
  BIO* bio = BIO_new(BIO_s_mem());
  require(PEM_write_bio_PUBKEY(bio, pair_->key) == 1);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  std::string text(bytes, static_cast<size_t>(size));
  BIO_free(bio);
  return text;
}

std::string TestIssuer::header() const {
  json::Value header = json::Value::object();
  header.set("alg", kind_ == Kind::rsa ? "RS256" : "ES256").set("kid", kid_);
  return header.text();
}

std::string TestIssuer::sign(const std::string& header, const std::string& claims) const {
  const std::string text = unsigned_token(header, claims);
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  require(EVP_DigestSignInit(context, nullptr, EVP_sha256(), nullptr, pair_->key) == 1);
  size_t size = 0;
  require(EVP_DigestSign(context, nullptr, &size, bytes_of(text), text.size()) == 1);
  std::string signature(size, '\0');
  require(EVP_DigestSign(context, reinterpret_cast<unsigned char*>(signature.data()), &size,
                         bytes_of(text), text.size()) == 1);
  signature.resize(size);
  EVP_MD_CTX_free(context);
  return text + "." + base64url(kind_ == Kind::ec ? raw_signature(signature) : signature);
}

std::string key_set_of(const std::vector<json::Value>& keys) {
  json::Value list = json::Value::array();
  for (const json::Value& key : keys) list.push(key);
  json::Value set = json::Value::object();
  set.set("keys", std::move(list));
  return set.text();
}

json::Value pod_claims(const std::string& node, int64_t now) {
  const auto object = [](const std::string& name) {
    json::Value value = json::Value::object();
    value.set("name", name).set("uid", "8f3b9a52-7a35-4a4e-9f55-0f3f5f0d1c11");
    return value;
  };
  json::Value kubernetes = json::Value::object();
  kubernetes.set("namespace", "ibpod")
      .set("node", object(node))
      .set("pod", object("ibpod-agent-x7k2p"))
      .set("serviceaccount", object("ibpod-agent"))
      .set("warnafter", now + 3547);
  json::Value claims = json::Value::object();
  claims.set("aud", json::Value::array().push("ibpod-sm"))
      .set("exp", now + 3540)
      .set("iat", now - 60)
      .set("iss", kTestIssuer)
      .set("jti", "b2c7e0a4-3e1d-4a93-bb8e-6c9b4f1d2e77")
      .set("kubernetes.io", std::move(kubernetes))
      .set("nbf", now - 60)
      .set("sub", "system:serviceaccount:ibpod:ibpod-agent");
  return claims;
}

}  // namespace ibpod
