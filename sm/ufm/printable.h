// Texts of UFM, which may come from an administrator, a web server or an attacker, for logs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ibpod::sm::ufm {

// At most `most` bytes of printable ASCII: control characters and what is no ASCII become '?', and
// a longer text ends in "...". `most` is at least 3.
std::string printable(std::string_view text, size_t most);

}  // namespace ibpod::sm::ufm
