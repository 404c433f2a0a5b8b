// UTF-8, as JSON and protobuf ask for it: neither longer than need be, nor half of a surrogate
// pair, nor beyond Unicode.
#pragma once

#include <cstddef>
#include <string_view>

namespace ibpod {

// How many bytes the character at the beginning has; 0 where it is none. Of a `text` that is not
// empty.
size_t utf8_length(std::string_view text);
bool is_utf8(std::string_view text);
// Without ASCII's blank and without control characters (C0, DEL, C1).
bool is_utf8_word(std::string_view text);

}  // namespace ibpod
