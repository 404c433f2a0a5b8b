#include "lib/base/dns_name.h"
#include "sm/config/ufm_section.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <arpa/inet.h>

namespace ibpod::sm::config {
namespace {

constexpr std::string_view kScheme = "https://";
constexpr std::string_view kForm =
    "expected https://HOST[:PORT], such as https://ufm.example.com or https://[fd00::1]:8443";

bool is_ip(int family, const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return ::inet_pton(family, host.c_str(), bytes.data()) == 1;
}

// A name whose last label has only digits is an IPv4 address, or a wrong one (RFC 3696, 2).
bool is_host(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']') && text.size() > 2)
    return is_ip(AF_INET6, std::string(text.substr(1, text.size() - 2)));
  std::string name(text);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const std::string last = name.substr(name.rfind('.') + 1);
  const bool digits = last.find_first_not_of("0123456789") == last.npos;
  return digits ? is_ip(AF_INET, name) : is_dns_subdomain(name);
}

bool is_port(std::string_view digits) {
  uint16_t port = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, port);
  return !digits.empty() && error == std::errc() && stopped == end && port != 0;
}

bool is_authority(std::string_view text) {
  const size_t bracket = text.rfind(']');
  const size_t colon = text.find(':', bracket == text.npos ? 0 : bracket);
  if (colon == text.npos) return is_host(text);
  return is_host(text.substr(0, colon)) && is_port(text.substr(colon + 1));
}

}  // namespace

Result<std::string> read_ufm_address(const json::Value& value) {
  const std::string text = TRY(value.string());
  // The text is not repeated: it may have a password.
  if (text.find('@') != text.npos)
    return value.wrong(std::string(kForm) +
                       ", got one with a user: name the user and the file with its password as "
                       "ufm.user and ufm.passwordFile");
  const std::string got = ", got " + value.ascii();
  if (text.starts_with("http://"))
    return value.wrong(std::string(kForm) + got +
                       ": without TLS every machine on the way could read ibpod-sm's credentials, "
                       "and answer as UFM");
  if (!text.starts_with(kScheme)) return value.wrong(std::string(kForm) + got);
  const std::string_view authority = std::string_view(text).substr(kScheme.size());
  if (is_authority(authority)) return text;
  const bool has_path = authority.find('/') != authority.npos;
  return value.wrong(std::string(kForm) + got +
                     (has_path ? ": no path, because ibpod-sm adds the one of each call" : ""));
}

}  // namespace ibpod::sm::config
