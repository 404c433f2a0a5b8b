// Texts that others wrote, such as a server or an attacker, for logs and terminals.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ibpod {

// At most `most` bytes of printable ASCII: control characters and what is no ASCII become '?', and
// a longer text ends in "...". `most` is at least 3.
std::string printable(std::string_view text, size_t most = std::string_view::npos);

}  // namespace ibpod
