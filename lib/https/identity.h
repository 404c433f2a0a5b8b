// Identity: how a client identifies itself to a server: by a header, a certificate, both or
// neither.
#pragma once

#include "lib/https/secret.h"

#include <string>

namespace ibpod::https {

// One reading of the files. Wiped when it goes.
struct Identity {
  Secret authorization = {};     // the value of this header, SCHEME and the rest; empty: none
  Secret password = {};          // or the token, as the file has it
  std::string certificate = {};  // PEM; empty: none
  Secret key = {};               // PEM

  // The text with "***" in the place of password, token and header: for errors, which may quote a
  // server that sends them back.
  std::string redacted(std::string text) const;
};

}  // namespace ibpod::https
