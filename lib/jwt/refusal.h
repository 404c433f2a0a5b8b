// The errors of tokens: short and printable, as they quote what any caller sends, and they are
// logged.
#pragma once

#include "lib/base/result.h"

#include <string_view>

namespace ibpod::jwt {

// denied: the text in printable ASCII, and not more than the beginning of a long one. The text
// quotes single claims, never a part of the token as it was sent.
Error refusal(std::string_view text);

}  // namespace ibpod::jwt
