#include "lib/https/identity.h"

#include <algorithm>
#include <string_view>

namespace ibpod::https {
namespace {

void replace_all(std::string& text, std::string_view from) {
  constexpr std::string_view kHidden = "***";
  if (from.empty()) return;
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + kHidden.size()))
    text.replace(at, from.size(), kHidden);
}

}  // namespace

std::string Identity::redacted(std::string text) const {
  const std::string_view header = authorization.text();
  const size_t scheme = std::min(header.find(' '), header.size());
  // The header first: it may contain the password.
  replace_all(text, header.substr(std::min(scheme + 1, header.size())));
  replace_all(text, password.text());
  return text;
}

}  // namespace ibpod::https
