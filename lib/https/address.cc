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

Status check_url(std::string_view url) {
  constexpr size_t kLongest = 2'000;
  const auto is_plain = [](char c) {
    return c > ' ' && c <= '~' &&
           std::string_view("@?#\\\"<>^`{|}").find(c) == std::string_view::npos;
  };
  const size_t host = std::min(kScheme.size(), url.size());
  const size_t path = std::min(url.find('/', host), url.size());
  const bool right = url.size() <= kLongest && path < url.size() &&
                     check_address(url.substr(0, path)) &&
                     std::all_of(url.begin(), url.end(), is_plain);
  if (right) return ok();
  return Error(Code::invalid,
               "expected https://HOST/PATH or https://HOST:PORT/PATH, without a user and a query, "
               "of at most " +
                   std::to_string(kLongest) + " bytes");
}

}  // namespace ibpod::https
