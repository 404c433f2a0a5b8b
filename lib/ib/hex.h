// Hexadecimal text of fixed width, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ibpod::ib {

// `digits` lowercase hex digits, zeros in front.
std::string hex(uint64_t value, int digits);

// 1 to 16 hex digits of either case and nothing else.
std::optional<uint64_t> parse_hex(std::string_view digits);

}  // namespace ibpod::ib
