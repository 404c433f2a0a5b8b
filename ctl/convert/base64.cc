#include "ctl/convert/base64.h"

#include <cstdint>

namespace ibpod::ctl::convert {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

Error not_base64() { return {Code::invalid, "expected base64"}; }

std::string without_line_breaks(std::string_view text) {
  std::string joined(text);
  std::erase_if(joined, [](char c) { return c == '\n' || c == '\r'; });
  return joined;
}

}  // namespace

Result<std::string> decode_base64(std::string_view text) {
  std::string digits = without_line_breaks(text);
  if (digits.size() % 4 != 0) return not_base64();
  for (int padding = 0; padding < 2 && digits.ends_with('='); ++padding) digits.pop_back();
  std::string bytes;
  uint32_t bits = 0;
  unsigned count = 0;  // of the bits that are not in `bytes` yet
  for (const char digit : digits) {
    const size_t value = kAlphabet.find(digit);
    if (value == kAlphabet.npos) return not_base64();
    bits = (bits << 6 | static_cast<uint32_t>(value)) & 0xfff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  const bool rest_is_zero = (bits & ((1U << count) - 1)) == 0;
  if (count >= 6 || !rest_is_zero) return not_base64();
  return bytes;
}

}  // namespace ibpod::ctl::convert
