#include "lib/jwt/key.h"

#include "lib/jwt/base64url.h"
#include "lib/jwt/refusal.h"

#include <utility>

#include <cjose/jwk.h>
#include <cjose/jws.h>

namespace ibpod::jwt {
namespace {

using json::Value;

constexpr size_t kFewestBits = 2048;
// The cost of a signature grows with the key.
constexpr size_t kMostBits = 8192;

struct Form {
  std::string type, curve, use, algorithm, id;
};

Status read_text(const Value& value, std::string_view key, std::string& text) {
  const std::optional<Value> member = value.find(key);
  if (member) text = TRY(member->string());
  return ok();
}

Result<Form> read_form(const Value& value) {
  Form form;
  TRY(value.members());
  TRY(read_text(value, "kty", form.type));
  TRY(read_text(value, "crv", form.curve));
  TRY(read_text(value, "use", form.use));
  TRY(read_text(value, "alg", form.algorithm));
  TRY(read_text(value, "kid", form.id));
  return form;
}

// The type alone decides, never a token.
std::optional<Algorithm> algorithm_of(const Form& form) {
  std::optional<Algorithm> algorithm;
  if (form.type == "RSA") algorithm = Algorithm::rs256;
  if (form.type == "EC" && form.curve == "P-256") algorithm = Algorithm::es256;
  if (!algorithm || (!form.use.empty() && form.use != "sig")) return std::nullopt;
  if (!form.algorithm.empty() && form.algorithm != name(*algorithm)) return std::nullopt;
  return algorithm;
}

Status refuse_secrets(const Value& value) {
  for (const char* secret : {"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
    if (value.find(secret))
      return value.wrong(std::string("has \"") + secret +
                         "\", which is secret: expected public keys only");
  return ok();
}

// A number of the key. cjose 0.6 aborts the program on some texts that are no base64url.
Status copy_number(const Value& from, const char* name, Value& to) {
  const Value number = TRY(from.at(name));
  const std::string text = TRY(number.string());
  if (text.empty() || !decode_base64url(text))
    return number.wrong("expected base64url without padding");
  to.set(name, text);
  return ok();
}

// Only what the key needs, checked.
Result<std::string> checked_text(const Value& value, const Form& form, Algorithm algorithm) {
  const bool is_rsa = algorithm == Algorithm::rs256;
  Value key = Value::object();
  key.set("kty", form.type).set("kid", form.id);
  if (!is_rsa) key.set("crv", form.curve);
  for (const char* const number : {is_rsa ? "n" : "x", is_rsa ? "e" : "y"})
    TRY(copy_number(value, number, key));
  return key.text();
}

}  // namespace

Result<std::optional<Key>> Key::read(const Value& value) {
  const Form form = TRY(read_form(value));
  TRY(refuse_secrets(value));
  const std::optional<Algorithm> algorithm = algorithm_of(form);
  if (!algorithm) return std::optional<Key>();
  if (form.id.empty()) return value.wrong("the key \"kid\" is missing");
  const std::string text = TRY(checked_text(value, form, *algorithm));
  cjose_err why{};
  cjose_jwk_t* const imported = cjose_jwk_import(text.data(), text.size(), &why);
  if (imported == nullptr)
    return value.wrong("cannot be used as a key of type " + form.type +
                       (why.message == nullptr ? "" : std::string(": ") + why.message));
  Jwk jwk(imported, [](const cjose_jwk_t* one) {
    cjose_jwk_release(const_cast<cjose_jwk_t*>(one));  // NOLINT: its only way to be freed
  });
  const size_t bits = cjose_jwk_get_keysize(jwk.get(), &why);
  if (*algorithm == Algorithm::rs256 && (bits < kFewestBits || bits > kMostBits))
    return value.wrong("expected an RSA key of " + std::to_string(kFewestBits) + " to " +
                       std::to_string(kMostBits) + " bits, got " + std::to_string(bits));
  return std::optional(Key(form.id, *algorithm, std::move(jwk)));
}

Status Key::verify(const Token& token) const {
  if (token.algorithm != algorithm_)
    return refusal("header alg: expected " + std::string(name(algorithm_)) + ", that of the key " +
                   Value(id_).ascii() + ", got " + std::string(name(token.algorithm)));
  // Two numbers of 32 bytes (RFC 7518, 3.4); cjose takes longer ones, too.
  if (algorithm_ == Algorithm::es256 && token.signature_bytes != 64)
    return refusal("the signature: expected 64 bytes, got " +
                   std::to_string(token.signature_bytes));
  const std::unique_ptr<cjose_jws_t, decltype(&cjose_jws_release)> jws(
      cjose_jws_import(token.text.data(), token.text.size(), nullptr), &cjose_jws_release);
  if (jws != nullptr && cjose_jws_verify(jws.get(), jwk_.get(), nullptr)) return ok();
  return refusal("the signature is not that of the key " + Value(id_).ascii());
}

}  // namespace ibpod::jwt
