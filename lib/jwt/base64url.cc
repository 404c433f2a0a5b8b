#include "lib/jwt/base64url.h"

#include <cstdint>

namespace ibpod::jwt {
namespace {

std::optional<uint32_t> bits_of(char digit) {
  if (digit >= 'A' && digit <= 'Z') return static_cast<uint32_t>(digit - 'A');
  if (digit >= 'a' && digit <= 'z') return static_cast<uint32_t>(digit - 'a' + 26);
  if (digit >= '0' && digit <= '9') return static_cast<uint32_t>(digit - '0' + 52);
  if (digit == '-') return 62;
  if (digit == '_') return 63;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> decode_base64url(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  uint32_t gathered = 0;
  int count = 0;
  for (const char digit : text) {
    const std::optional<uint32_t> bits = bits_of(digit);
    if (!bits) return std::nullopt;
    gathered = gathered << 6 | *bits;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>(gathered >> count & 0xff));
    gathered &= (1u << count) - 1;
  }
  // One digit alone is no byte.
  if (count == 6 || gathered != 0) return std::nullopt;
  return bytes;
}

}  // namespace ibpod::jwt
