// base64url without padding (RFC 4648, 5), the form of a token's parts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ibpod::jwt {

// Nothing unless it is the one encoding of its bytes: no padding, no other character, and no bits
// that are left over.
std::optional<std::string> decode_base64url(std::string_view text);

}  // namespace ibpod::jwt
