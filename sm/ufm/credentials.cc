#include "sm/ufm/credentials.h"

#include "lib/base/private_file.h"
#include "lib/rpc/tls_check.h"

#include <algorithm>
#include <utility>

#include <openssl/evp.h>

namespace ibpod::sm::ufm {
namespace {

constexpr size_t kMostPassword = 1024;
constexpr size_t kMostToken = 4096;
constexpr size_t kMostPem = 1 << 20;

// RFC 4648, section 4.
https::Secret base64(std::string_view bytes) {
  const size_t length = (bytes.size() + 2) / 3 * 4;
  std::string text(length + 1, '\0');  // OpenSSL writes a NUL behind the digits
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                  reinterpret_cast<const unsigned char*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  text.resize(length);
  return https::Secret(std::move(text));
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char letter) {
    return static_cast<unsigned char>(letter) < ' ' || letter == '\x7f';
  });
}

Result<https::Secret> read_secret(const Path& path, size_t most) {
  Result<std::string> text = read_private_file(path, most + 2);
  if (!text) return std::move(text).error();
  https::Secret secret(std::move(text.value()));
  secret.strip_newline();
  if (secret.empty()) return Error(Code::invalid, path.string() + " is empty");
  return secret;
}

Result<https::Identity> read_basic(const BasicAuth& auth) {
  if (auth.user.empty() || auth.user.find(':') != auth.user.npos || has_control(auth.user))
    return Error(Code::invalid, "expected a user name without colons");
  https::Identity identity;
  identity.password = TRY(read_secret(auth.password_file, kMostPassword));
  if (has_control(identity.password.text()))
    return Error(Code::invalid,
                 auth.password_file.string() +
                     ": expected one line with the password, got control characters");
  https::Secret pair;
  pair.append(auth.user).append(":").append(identity.password.text());
  identity.authorization.append("Basic ").append(base64(pair.text()).text());
  return identity;
}

// The raw token, not in base64: that is UFM's rule for /ufmRestV3.
Result<https::Identity> read_token(const TokenAuth& auth) {
  https::Identity identity;
  identity.password = TRY(read_secret(auth.token_file, kMostToken));
  const std::string& token = identity.password.text();
  const auto is_plain = [](char letter) { return letter > ' ' && letter <= '~'; };
  if (!std::all_of(token.begin(), token.end(), is_plain))
    return Error(Code::invalid, auth.token_file.string() +
                                    ": expected one line of printable ASCII without spaces");
  identity.authorization.append("Basic ").append(token);
  return identity;
}

Result<https::Identity> read_pair(const CertificateAuth& auth) {
  https::Identity identity;
  identity.certificate = TRY(read_trusted_file(auth.certificate, kMostPem));
  identity.key = TRY(read_secret(auth.key, kMostPem));
  const rpc::Validity valid =
      TRY(rpc::check_pair(identity.certificate, identity.key.text())
              .during(auth.certificate.string() + ", " + auth.key.string()));
  TRY(rpc::check_today(valid).during(auth.certificate.string()));
  return identity;
}

Result<https::Identity> read_identity(const Credentials::Auth& auth) {
  if (const auto* basic = std::get_if<BasicAuth>(&auth)) return read_basic(*basic);
  if (const auto* token = std::get_if<TokenAuth>(&auth)) return read_token(*token);
  return read_pair(std::get<CertificateAuth>(auth));
}

}  // namespace

std::string_view Credentials::base_path() const {
  return std::holds_alternative<TokenAuth>(auth_) ? "/ufmRestV3" : "/ufmRest";
}

Result<https::Identity> Credentials::read() const {
  auto identity = read_identity(auth_);
  if (identity) return identity;
  return std::move(identity).error().as(Code::denied).during("credentials for UFM");
}

Result<std::string> read_ca(const Path& path) {
  if (path.empty()) return std::string();
  auto text = read_trusted_file(path, kMostPem);
  const Status checked = text ? rpc::check_authorities(*text).during(path.string()) : text.error();
  if (checked) return text;
  return Error(checked.error()).as(Code::unavailable).during("the CA of UFM");
}

}  // namespace ibpod::sm::ufm
