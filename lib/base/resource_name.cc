#include "lib/base/resource_name.h"

#include "lib/base/dns_name.h"

#include <algorithm>
#include <string>

namespace ibpod {
namespace {

constexpr std::string_view kOfQuotas = "requests.";
constexpr size_t kLongestPrefix = 253 - kOfQuotas.size(), kLongestName = 63;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_inside(char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.'; }

Error wrong(std::string_view text, std::string_view reason) {
  return {Code::invalid, "\"" + std::string(text) + "\" " + std::string(reason)};
}

}  // namespace

Status check_resource_prefix(std::string_view prefix) {
  if (prefix.size() > kLongestPrefix || !is_dns_subdomain(prefix))
    return wrong(
        prefix,
        "is not a DNS subdomain: expected at most 244 lowercase letters, digits, '-' and '.', "
        "such as \"example.com\"");
  if (prefix.ends_with("kubernetes.io"))
    return wrong(prefix,
                 "is reserved for Kubernetes: use a domain of your own, such as \"example.com\"");
  if (prefix.starts_with(kOfQuotas))
    return wrong(prefix, "begins with \"requests.\", which Kubernetes reserves for quotas");
  return ok();
}

Status check_resource_name(std::string_view name) {
  const bool fits = !name.empty() && name.size() <= kLongestName &&
                    is_letter_or_digit(name.front()) && is_letter_or_digit(name.back()) &&
                    std::all_of(name.begin(), name.end(), is_inside);
  if (fits) return ok();
  return wrong(name,
               "is not a resource name: expected 1 to 63 letters, digits, '_', '-' and '.', a "
               "letter or digit at either end, such as \"ib_vfs\"");
}

Status check_resource(std::string_view resource) {
  if (std::count(resource.begin(), resource.end(), '/') != 1)
    return Error(Code::invalid,
                 "expected PREFIX/NAME as pods request it, got \"" + std::string(resource) + "\"");
  const size_t slash = resource.find('/');
  TRY(check_resource_prefix(resource.substr(0, slash)));
  return check_resource_name(resource.substr(slash + 1));
}

}  // namespace ibpod
