// Shared by the fuzz targets. A program that breaks a promise aborts, which is what a fuzzer looks
// for.
#pragma once

#include "lib/base/result.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::fuzz {

inline void require(bool kept) {
  if (!kept) std::abort();
}

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// An error gives a reason. It may quote what it refuses, but does not multiply it.
inline void check_refusal(const Error& error, size_t input) {
  require(!error.text().empty() && error.text().size() <= 4000 + 16 * input);
}

// The part up to the next byte 0x1e (ASCII's record separator), which is taken off the front.
inline std::string_view next_part(std::string_view& rest) {
  const size_t end = std::min(rest.find('\x1e'), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

inline std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace ibpod::fuzz
