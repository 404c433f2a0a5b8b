// base64 as the data of a Secret has it (RFC 4648, section 4).
#pragma once

#include "lib/base/result.h"

#include <string>
#include <string_view>

namespace ibpod::ctl::convert {

// Line breaks are allowed, as base64(1) makes them. invalid for everything else that is not the
// one encoding of some bytes; the error never quotes the text, which may be a password.
Result<std::string> decode_base64(std::string_view text);

}  // namespace ibpod::ctl::convert
