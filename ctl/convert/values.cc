#include "ctl/convert/values.h"

#include "lib/base/dns_name.h"
#include "lib/ip/prefix.h"

#include <algorithm>
#include <charconv>

namespace ibpod::ctl::convert {
namespace {

// A name whose last label has only digits is an IPv4 address, or a wrong one (RFC 3696, 2).
bool is_host(std::string_view text) {
  std::string name(text);
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const std::string last = name.substr(name.rfind('.') + 1);
  const bool digits = last.find_first_not_of("0123456789") == last.npos;
  return digits ? ip::Address::parse(name).ok() : is_dns_subdomain(name);
}

}  // namespace

std::string text_of(const Variables& variables, std::string_view name) {
  const auto found = variables.find(std::string(name));
  return found == variables.end() ? "" : found->second;
}

Error wrong(std::string_view name, const std::string& text) {
  return {Code::invalid, std::string(name) + ": " + text};
}

Error unexpected(const Variables& variables, std::string_view name, const std::string& expected) {
  return wrong(name, "expected " + expected + ", got \"" + text_of(variables, name) + "\"");
}

Result<std::string> required(const Variables& variables, std::string_view name) {
  std::string value = text_of(variables, name);
  if (value.empty()) return wrong(name, "it is missing or empty, and ib-kubernetes requires it");
  return value;
}

Result<std::optional<unsigned>> read_number(const Variables& variables, std::string_view name,
                                            unsigned most) {
  const std::string value = text_of(variables, name);
  if (value.empty()) return std::optional<unsigned>();
  unsigned number = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc() || stop != end || number > most)
    return unexpected(variables, name, "a number from 0 to " + std::to_string(most));
  return std::optional(number);
}

Result<ib::Guid> read_guid(const Variables& variables, std::string_view name,
                           std::string_view otherwise) {
  std::string value = text_of(variables, name);
  if (value.empty()) value = otherwise;
  std::replace_if(
      value.begin(), value.end(), [](char c) { return c == '-' || c == '.'; }, ':');
  const Result<ib::Guid> guid = ib::Guid::parse(value);
  if (guid && !guid->none()) return guid;
  return unexpected(variables, name, "a GUID such as " + std::string(otherwise));
}

Result<std::string> read_host(const Variables& variables, std::string_view name) {
  const std::string value = TRY(required(variables, name));
  if (value.find('@') != value.npos)
    return wrong(name, "expected a host name or an IP address, without user and password");
  std::string_view inside = value;
  if (inside.starts_with('[') && inside.ends_with(']'))
    inside = inside.substr(1, inside.size() - 2);
  const Result<ip::Address> address = ip::Address::parse(inside);
  if (address && address->family() == ip::Family::v6) return "[" + address->text() + "]";
  if (is_host(value)) return value;
  return unexpected(variables, name, "a host name or an IP address, without scheme, port and path");
}

bool has_control(std::string_view value) {
  return std::any_of(value.begin(), value.end(),
                     [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

}  // namespace ibpod::ctl::convert
