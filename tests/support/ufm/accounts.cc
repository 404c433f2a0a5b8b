#include "tests/support/ufm/accounts.h"

#include <cstdint>

namespace ibpod::fake_ufm {
namespace {

Error unauthorized(const char* text) { return Error(Code::denied, text); }

}  // namespace

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t group = 0;
    for (size_t i = 0; i < 3; ++i)
      group = group << 8 | (at + i < bytes.size() ? static_cast<uint8_t>(bytes[at + i]) : 0U);
    for (size_t i = 0; i < 4; ++i)
      text += at + i > bytes.size() ? '=' : kDigits[group >> (18 - 6 * i) & 63];
  }
  return text;
}

void Accounts::add_user(const std::string& name, const std::string& password, Role role) {
  const std::lock_guard lock(mutex_);
  users_[name] = {password, role};
}

void Accounts::add_certificate(const std::string& common_name, const std::string& user) {
  const std::lock_guard lock(mutex_);
  certificates_[common_name] = user;
}

void Accounts::add_token(const std::string& token, const std::string& user) {
  const std::lock_guard lock(mutex_);
  tokens_[token] = user;
}

std::string Accounts::make_token(const std::string& user) {
  const std::lock_guard lock(mutex_);
  std::string token = base64("token " + std::to_string(++made_) + " of " + user);
  tokens_[token] = user;
  return token;
}

void Accounts::expire_tokens() {
  const std::lock_guard lock(mutex_);
  expired_.merge(tokens_);
  tokens_.clear();
}

void Accounts::set_password(const std::string& user, const std::string& password) {
  const std::lock_guard lock(mutex_);
  users_[user].password = password;
}

bool Accounts::may_write(const std::string& user) const {
  const std::lock_guard lock(mutex_);
  const auto found = users_.find(user);
  return found != users_.end() && found->second.role == Role::administrator;
}

Result<std::string> Accounts::authenticate(std::string_view base,
                                           const HttpRequest& request) const {
  const std::lock_guard lock(mutex_);
  if (base == "/ufmRestV3") return by_token(request);
  if (base == "/ufmRestV2" || request.authorization.empty()) return by_certificate(request);
  return by_password(request);
}

Result<std::string> Accounts::by_password(const HttpRequest& request) const {
  for (const auto& [name, user] : users_)
    if (request.authorization == "Basic " + base64(name + ":" + user.password)) return name;
  return unauthorized("Invalid username or password");
}

Result<std::string> Accounts::by_certificate(const HttpRequest& request) const {
  if (!request.certificate) return unauthorized("Authentication required");
  const auto found = certificates_.find(*request.certificate);
  if (found == certificates_.end()) return unauthorized("No user is mapped to the certificate");
  return found->second;
}

Result<std::string> Accounts::by_token(const HttpRequest& request) const {
  constexpr std::string_view kScheme = "Basic ";
  if (!request.authorization.starts_with(kScheme)) return unauthorized("Token required");
  const std::string token = request.authorization.substr(kScheme.size());
  if (expired_.contains(token)) return unauthorized("Token has expired");
  const auto found = tokens_.find(token);
  if (found == tokens_.end()) return unauthorized("Invalid token");
  return found->second;
}

}  // namespace ibpod::fake_ufm
