#include "lib/jwt/token.h"

#include "lib/jwt/base64url.h"
#include "lib/jwt/refusal.h"

#include <algorithm>
#include <array>

namespace ibpod::jwt {
namespace {

using json::Value;

constexpr size_t kParts = 3;
constexpr std::array<std::string_view, kParts> kNames{"header", "claims", "signature"};

// HEADER.CLAIMS.SIGNATURE, decoded.
Result<std::array<std::string, kParts>> decode(std::string_view text) {
  const auto dots = std::count(text.begin(), text.end(), '.');
  if (dots != kParts - 1)
    return refusal("expected three parts with dots between them, got " + std::to_string(dots) +
                   " dots");
  std::array<std::string, kParts> parts;
  for (size_t n = 0; n < kParts; ++n) {
    const size_t end = std::min(text.find('.'), text.size());
    const std::string part(kNames.at(n));
    if (end == 0) return refusal("the " + part + ": expected base64url, got nothing");
    std::optional<std::string> bytes = decode_base64url(text.substr(0, end));
    if (!bytes) return refusal("the " + part + ": expected base64url without padding");
    parts.at(n) = *std::move(bytes);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

Result<Value> parse_object(const std::string& text, const std::string& part) {
  Result<Value> value = Value::parse(text);
  if (!value) return refusal("the " + part + ": " + value.error().text());
  if (!value->is_object()) return refusal("the " + part + ": expected a JSON object");
  return value;
}

Result<std::string> read_string(const Value& header, const std::string& key) {
  const std::optional<Value> member = header.find(key);
  if (!member) return refusal("header " + key + ": is missing");
  const Result<std::string> text = member->string();
  if (!text) return refusal("header " + text.error().text());
  return *text;
}

Status read_header(const Value& header, Token& token) {
  const std::string algorithm = TRY(read_string(header, "alg"));
  const std::optional<Algorithm> found = find_algorithm(algorithm);
  if (!found)
    return refusal("header alg: expected RS256 or ES256, got " + Value(algorithm).ascii());
  // Extensions that a reader must know (RFC 7515, 4.1.11): none is known here.
  if (header.find("crit")) return refusal("header crit: no extension is supported");
  token.algorithm = *found;
  token.key_id = TRY(read_string(header, "kid"));
  return ok();
}

}  // namespace

std::string_view name(Algorithm algorithm) {
  return algorithm == Algorithm::rs256 ? "RS256" : "ES256";
}

std::optional<Algorithm> find_algorithm(std::string_view name) {
  for (const Algorithm one : {Algorithm::rs256, Algorithm::es256})
    if (name == jwt::name(one)) return one;
  return std::nullopt;
}

Result<Token> Token::parse(std::string_view text) {
  if (text.size() > kLargestToken)
    return refusal("the token has " + std::to_string(text.size()) + " bytes: expected at most " +
                   std::to_string(kLargestToken));
  const std::array<std::string, kParts> parts = TRY(decode(text));
  const Value header = TRY(parse_object(parts[0], "header"));
  Token token;
  TRY(read_header(header, token));
  token.claims = TRY(parse_object(parts[1], "claims"));
  token.text = text;
  token.signature_bytes = parts[2].size();
  return token;
}

}  // namespace ibpod::jwt
