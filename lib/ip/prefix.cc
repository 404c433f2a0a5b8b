#include "lib/ip/prefix.h"

#include <charconv>

#include <arpa/inet.h>

namespace ibpod::ip {

Result<Address> Address::parse(std::string_view text) {
  const std::string terminated(text);
  Address address;
  // inet_pton would read up to a NUL and call the rest good.
  if (text.find('\0') != text.npos)
    return Error(Code::invalid, "an IP address cannot contain a NUL byte");
  if (::inet_pton(AF_INET, terminated.c_str(), address.bytes_.data()) == 1) return address;
  if (::inet_pton(AF_INET6, terminated.c_str(), address.bytes_.data()) == 1) {
    address.family_ = Family::v6;
    return address;
  }
  return Error(Code::invalid, "\"" + terminated + "\" is not an IP address");
}

std::string Address::text() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(family_ == Family::v4 ? AF_INET : AF_INET6, bytes_.data(), text.data(), text.size());
  return text.data();
}

Result<Prefix> Prefix::parse(std::string_view text) {
  const size_t slash = text.find('/');
  Prefix prefix;
  prefix.address = TRY(Address::parse(text.substr(0, slash)));
  const std::string_view digits = slash == std::string_view::npos ? "" : text.substr(slash + 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), prefix.length);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() ||
      prefix.length > prefix.address.size() * 8) {
    return Error(Code::invalid,
                 "\"" + std::string(text) +
                     "\" is not an address with a prefix length, such as 10.1.2.3/24");
  }
  return prefix;
}

std::string Prefix::text() const { return address.text() + "/" + std::to_string(length); }

}  // namespace ibpod::ip
