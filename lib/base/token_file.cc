#include "lib/base/token_file.h"

#include <algorithm>
#include <string_view>

namespace ibpod {
namespace {

constexpr size_t kLargest = 7 << 10;

bool is_token_character(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~+/=").find(c) != std::string_view::npos;
}

Error unusable(const Path& file, const std::string& why) {
  return Error(Code::unavailable, why).during(file.string());
}

}  // namespace

Result<std::string> read_token_file(const Path& file) {
  Result<std::string> token = read_file(file, kLargest);
  if (!token) return Error(Code::unavailable, token.error().text());
  if (token->ends_with('\n')) token->pop_back();
  if (token->empty()) return unusable(file, "expected a token, got an empty file");
  if (std::all_of(token->begin(), token->end(), is_token_character)) return token;
  return unusable(file, "expected one token, got other characters");
}

}  // namespace ibpod
