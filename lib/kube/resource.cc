#include "lib/kube/resource.h"

#include <algorithm>
#include <string_view>

namespace ibpod::kube {
namespace {

constexpr size_t kLongestName = 63;
// The kubelet checks "requests.DOMAIN/NAME", where the domain has at most 253.
constexpr size_t kLongestDomain = 253 - sizeof "requests." + 1;

Error wrong(const std::string& name, const std::string& reason) {
  return {Code::invalid, "resource name \"" + name + "\": " + reason};
}

bool is_one_of(char c, std::string_view others) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || others.find(c) != others.npos;
}

constexpr std::string_view kUpper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

// Lower-case letters, digits and `inside`, beginning and ending with none but the first two and
// `ends`.
bool is_word(std::string_view text, std::string_view ends, std::string_view inside) {
  const auto allowed = [&](char c) { return is_one_of(c, ends) || is_one_of(c, inside); };
  return !text.empty() && is_one_of(text.front(), ends) && is_one_of(text.back(), ends) &&
         std::all_of(text.begin(), text.end(), allowed);
}

// A DNS subdomain (RFC 1123): words with "." between them.
bool is_domain(std::string_view text) {
  const size_t dot = text.find('.');
  if (!is_word(text.substr(0, dot), "", "-")) return false;
  return dot == text.npos || is_domain(text.substr(dot + 1));
}

}  // namespace

Status check_resource_name(const std::string& name) {
  const size_t slash = name.find('/');
  if (slash == std::string::npos) return wrong(name, "expected DOMAIN/NAME");
  const std::string domain = name.substr(0, slash);
  const std::string own = name.substr(slash + 1);
  if (domain.size() > kLongestDomain || own.size() > kLongestName) {
    return wrong(name, "expected at most " + std::to_string(kLongestDomain) +
                           " bytes before the \"/\" and " + std::to_string(kLongestName) +
                           " bytes after it");
  }
  if (!is_domain(domain)) {
    return wrong(name, "expected a domain in lower case before the \"/\"");
  }
  if (!is_word(own, kUpper, "-_.")) {
    return wrong(
        name,
        "expected letters, digits, \"-\", \"_\" and \".\" after the \"/\", with a letter or "
        "digit at each end");
  }
  if (name.find("kubernetes.io/") != std::string::npos || name.starts_with("requests.")) {
    return wrong(name, "kubernetes.io and \"requests.\" are reserved for Kubernetes");
  }
  return ok();
}

}  // namespace ibpod::kube
