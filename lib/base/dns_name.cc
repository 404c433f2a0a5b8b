#include "lib/base/dns_name.h"

namespace ibpod {
namespace {

constexpr size_t kLongestLabel = 63, kLongestSubdomain = 253;

bool plain(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

}  // namespace

bool is_dns_label(std::string_view name) {
  return name.size() <= kLongestLabel && name.find('.') == name.npos && is_dns_subdomain(name);
}

// That a label of it is longer than one may be alone, Kubernetes does not mind either.
bool is_dns_subdomain(std::string_view name) {
  char before = '.';
  for (const char c : name) {
    const bool fits = plain(c) || (c == '-' && before != '.') || (c == '.' && plain(before));
    if (!fits) return false;
    before = c;
  }
  return name.size() <= kLongestSubdomain && plain(before);
}

}  // namespace ibpod
