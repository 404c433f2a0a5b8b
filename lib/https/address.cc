#include "lib/https/address.h"

#include "lib/base/printable.h"
#include "lib/ip/prefix.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace ibpod::https {
namespace {

constexpr std::string_view kScheme = "https://";

bool is_host(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) {
    const auto address = ip::Address::parse(text.substr(1, text.size() - 2));
    return address && address->family() == ip::Family::v6;
  }
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.';
  };
  // Only an IPv4 address has digits alone behind its last dot (RFC 3696, 2).
  const std::string_view last = text.substr(text.rfind('.') + 1);
  if (last.find_first_not_of("0123456789") == last.npos) {
    const auto address = ip::Address::parse(text);
    return address && address->family() == ip::Family::v4;
  }
  return !text.empty() && text.size() <= 253 && text.front() != '-' && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), is_letter);
}

bool is_port(std::string_view text) {
  uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, port);
  return error == std::errc() && stop == end && port > 0;
}

bool is_host_and_port(std::string_view text) {
  const size_t colon = text.rfind(':');
  const bool has_port = colon != text.npos && !text.ends_with(']');
  return has_port ? is_host(text.substr(0, colon)) && is_port(text.substr(colon + 1))
                  : is_host(text);
}

}  // namespace

Status check_address(std::string_view address) {
  if (address.starts_with(kScheme) && is_host_and_port(address.substr(kScheme.size()))) return ok();
  return Error(Code::invalid, "expected https://HOST or https://HOST:PORT, got \"" +
                                  printable(address, 300) + "\"");
}

}  // namespace ibpod::https
