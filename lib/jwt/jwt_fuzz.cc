// For any key set, token and claims: they are accepted or refused with a short reason. Three parts,
// with byte 0x1e between them.
#include "lib/jwt/key_set.h"
#include "lib/jwt/service_account.h"
#include "tests/support/fuzz.h"

namespace ibpod::jwt {
namespace {

// Errors of tokens are logged, and any caller can cause them.
void check_short(const Error& error) {
  fuzz::require(error.code() == Code::denied && error.text().size() <= 400);
  for (const char c : error.text()) fuzz::require(c >= ' ' && c <= '~');
}

void check(const json::Value& claims) {
  const ExpectedClaims expected{"https://issuer", "ibpod-sm", {"ibpod/ibpod-agent"}, 1'800'000'000};
  const auto read = check_claims(claims, expected);
  if (!read) return check_short(read.error());
  fuzz::require(read->name_space == "ibpod" && read->service_account.name == "ibpod-agent");
  fuzz::require(!read->node.name.empty() && !read->pod.name.empty());
}

}  // namespace
}  // namespace ibpod::jwt

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibpod;
  std::string_view rest = fuzz::text_of(data, size);
  const auto keys = jwt::KeySet::parse(fuzz::next_part(rest));
  if (!keys) fuzz::check_refusal(keys.error(), size);
  const auto token = jwt::Token::parse(fuzz::next_part(rest));
  if (!token) jwt::check_short(token.error());
  if (token && keys) {
    const Status verified = keys->verify(*token);
    if (!verified) jwt::check_short(verified.error());
  }
  const auto claims = json::Value::parse(rest);
  if (token) jwt::check(token->claims);
  if (claims) jwt::check(*claims);
  return 0;
}
