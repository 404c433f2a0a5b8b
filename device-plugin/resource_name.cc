#include "device-plugin/resource_name.h"

#include <algorithm>

namespace ibpod::device_plugin {
namespace {

constexpr size_t kLongestLabel = 63;
// "requests." stands before it in quotas, and both are a DNS subdomain of at most 253 characters.
constexpr size_t kLongestPrefix = 253 - 9;

bool lower(char c) { return c >= 'a' && c <= 'z'; }
bool upper(char c) { return c >= 'A' && c <= 'Z'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

bool is_label(std::string_view label) {
  const auto inner = [](char c) { return lower(c) || digit(c) || c == '-'; };
  return !label.empty() && label.size() <= kLongestLabel && label.front() != '-' &&
         label.back() != '-' && std::all_of(label.begin(), label.end(), inner);
}

bool is_subdomain(std::string_view text) {
  while (true) {
    const size_t dot = text.find('.');
    if (!is_label(text.substr(0, dot))) return false;
    if (dot == text.npos) return true;
    text.remove_prefix(dot + 1);
  }
}

Error wrong(std::string_view text, std::string_view reason) {
  return Error(Code::invalid, "\"" + std::string(text) + "\" " + std::string(reason));
}

}  // namespace

Status check_prefix(std::string_view prefix) {
  if (prefix.size() > kLongestPrefix || !is_subdomain(prefix))
    return wrong(
        prefix,
        "is not a DNS subdomain: expected at most 244 lowercase letters, digits, '-' and '.', "
        "such as \"example.com\"");
  if (prefix == "kubernetes.io" || prefix.ends_with(".kubernetes.io"))
    return wrong(prefix,
                 "is reserved for Kubernetes: use a domain of your own, such as \"example.com\"");
  if (prefix.starts_with("requests."))
    return wrong(prefix, "begins with \"requests.\", which Kubernetes reserves for quotas");
  return ok();
}

Status check_name(std::string_view name) {
  const auto fits = [](char c) { return lower(c) || upper(c) || digit(c) || c == '_' || c == '-'; };
  const bool edges = !name.empty() && fits(name.front()) && name.front() != '_' &&
                     name.front() != '-' && name.back() != '_' && name.back() != '-';
  if (edges && std::all_of(name.begin(), name.end(), fits) && name.size() <= kLongestLabel)
    return ok();
  return wrong(name,
               "is not a resource name: expected 1 to 63 letters, digits, '_' and '-', a letter or "
               "digit at either end, such as \"ib_vfs\"");
}

std::string variable_of(std::string_view resource) {
  std::string name = "PCIDEVICE_";
  for (const char c : resource) {
    if (c == '.' || c == '/')
      name += '_';
    else
      name += lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return name;
}

}  // namespace ibpod::device_plugin
