// UTF-8 as JSON and protobuf require it: no overlong forms, no surrogates, nothing beyond U+10FFFF.
#pragma once

#include <cstddef>
#include <string_view>

namespace ibpod {

// The number of bytes of the first character; 0 if it is invalid. `text` must not be empty.
size_t utf8_length(std::string_view text);
bool is_utf8(std::string_view text);
// True for text without ASCII blanks and control characters (C0, DEL, C1).
bool is_utf8_word(std::string_view text);

}  // namespace ibpod
