#include "ctl/convert/base64.h"

#include <limits>

#include <openssl/evp.h>

namespace ibpod::ctl::convert {
namespace {

Error not_base64() { return {Code::invalid, "expected base64"}; }

std::string without_line_breaks(std::string_view text) {
  std::string joined(text);
  std::erase_if(joined, [](char c) { return c == '\n' || c == '\r'; });
  return joined;
}

unsigned char* data_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

std::string encode(std::string bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL writes a NUL at the end
  EVP_EncodeBlock(data_of(text), data_of(bytes), static_cast<int>(bytes.size()));
  text.pop_back();
  return text;
}

}  // namespace

Result<std::string> decode_base64(std::string_view text) {
  std::string digits = without_line_breaks(text);
  if (digits.size() % 4 != 0 || digits.size() > std::numeric_limits<int>::max())
    return not_base64();
  std::string bytes(digits.size() / 4 * 3, '\0');
  const int decoded =
      EVP_DecodeBlock(data_of(bytes), data_of(digits), static_cast<int>(digits.size()));
  if (decoded < 0) return not_base64();
  // OpenSSL counts padding as bytes, skips spaces, and allows padding anywhere: only text that is
  // made again from the bytes is right.
  bytes.resize(static_cast<size_t>(decoded));
  for (size_t n = 1; n <= 2 && n <= digits.size() && !bytes.empty(); ++n)
    if (digits[digits.size() - n] == '=') bytes.pop_back();
  if (encode(bytes) != digits) return not_base64();
  return bytes;
}

}  // namespace ibpod::ctl::convert
