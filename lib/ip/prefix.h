// IPv4 and IPv6 addresses with a prefix length.
#pragma once

#include "lib/base/result.h"

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace ibpod::ip {

enum class Family { v4, v6 };

class Address {
 public:
  Address() = default;
  // Dotted quad or RFC 4291 text; no zone, no prefix.
  static Result<Address> parse(std::string_view text);

  Family family() const { return family_; }
  // Network byte order; the first size() bytes count.
  const std::array<uint8_t, 16>& bytes() const { return bytes_; }
  size_t size() const { return family_ == Family::v4 ? 4 : 16; }
  std::string text() const;
  auto operator<=>(const Address&) const = default;

 private:
  Family family_ = Family::v4;
  std::array<uint8_t, 16> bytes_{};
};

// 10.1.2.3/24: an address and the length of its network prefix. Host bits are kept.
struct Prefix {
  Address address;
  uint8_t length = 0;

  // invalid without a length, or with one above 32 or 128.
  static Result<Prefix> parse(std::string_view text);
  std::string text() const;
  auto operator<=>(const Prefix&) const = default;
};

}  // namespace ibpod::ip
