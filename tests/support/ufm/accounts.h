// Accounts: the users of a UFM, and how a request proves which of them sends it. For any number of
// threads.
#pragma once

#include "lib/base/result.h"
#include "tests/support/ufm/http_message.h"

#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace ibpod::fake_ufm {

enum class Role { administrator, reader };

class Accounts {
 public:
  void add_user(const std::string& name, const std::string& password,
                Role role = Role::administrator);
  // The user of clients whose certificate has this common name.
  void add_certificate(const std::string& common_name, const std::string& user);
  void add_token(const std::string& token, const std::string& user);
  // As POST /app/tokens does. Returns it.
  std::string make_token(const std::string& user);
  // All tokens, as if their time were over.
  void expire_tokens();
  void set_password(const std::string& user, const std::string& password);

  // The user. denied (401): no proof, or a wrong one, for this `base`: "/ufmRest" takes a password
  // or a certificate, "/ufmRestV2" a certificate, "/ufmRestV3" a token.
  Result<std::string> authenticate(std::string_view base, const HttpRequest& request) const;
  bool may_write(const std::string& user) const;

 private:
  struct User {
    std::string password;
    Role role = Role::administrator;
  };
  Result<std::string> by_password(const HttpRequest& request) const;
  Result<std::string> by_certificate(const HttpRequest& request) const;
  Result<std::string> by_token(const HttpRequest& request) const;

  mutable std::mutex mutex_;
  std::map<std::string, User> users_;
  std::map<std::string, std::string> certificates_;
  std::map<std::string, std::string> tokens_;
  std::map<std::string, std::string> expired_;
  int made_ = 0;
};

// As of RFC 4648, with padding.
std::string base64(std::string_view bytes);

}  // namespace ibpod::fake_ufm
