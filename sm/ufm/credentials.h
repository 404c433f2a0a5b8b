// Credentials: how ibpod-sm identifies itself to UFM. The files are read for each call, so a new
// password, token or certificate is used from the next call on.
#pragma once

#include "lib/base/result.h"
#include "lib/https/identity.h"
#include "sm/ufm/settings.h"

#include <string>
#include <string_view>

namespace ibpod::sm::ufm {

class Credentials {
 public:
  using Auth = decltype(ClientSettings::auth);
  explicit Credentials(Auth auth) : auth_(std::move(auth)) {}

  // The first part of all paths: "/ufmRest", or "/ufmRestV3" for a token.
  std::string_view base_path() const;
  // One reading of the files. denied if a file cannot be used, with its name, its mode and the
  // command that fixes it. Errors never quote the content.
  Result<https::Identity> read() const;

 private:
  Auth auth_;
};

// The certificates of CAs in PEM; empty for an empty path, which stands for the system's.
// unavailable if other users can write the file, or if it has no certificate.
Result<std::string> read_ca(const Path& path);

}  // namespace ibpod::sm::ufm
