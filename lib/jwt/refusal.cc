#include "lib/jwt/refusal.h"

#include <algorithm>
#include <string>

namespace ibpod::jwt {

Error refusal(std::string_view text) {
  constexpr size_t kLongest = 400;
  std::string shown(text.substr(0, kLongest));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  if (text.size() > kLongest) shown += "...";
  return Error(Code::denied, shown);
}

}  // namespace ibpod::jwt
