#include "lib/jwt/refusal.h"

#include "lib/base/printable.h"

namespace ibpod::jwt {

Error refusal(std::string_view text) {
  constexpr size_t kLongest = 400;
  return Error(Code::denied, printable(text, kLongest));
}

}  // namespace ibpod::jwt
