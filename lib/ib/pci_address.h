// PciAddress: names a PCI function, 0000:3b:00.2 (domain, bus, device, function).
#pragma once

#include "lib/base/result.h"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace ibpod::ib {

class PciAddress {
 public:
  PciAddress() = default;
  // Exactly DDDD:BB:DD.F in hex, device below 0x20, function 0 to 7; upper case becomes lower case.
  // invalid for everything else, so the text is safe in a path.
  static Result<PciAddress> parse(std::string_view text);

  // The form that sysfs uses.
  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  // Domain, bus, device and function in one number: 0x00003b02 is 0000:3b:00.2. 0 if it is empty.
  uint32_t number() const;
  auto operator<=>(const PciAddress&) const = default;

 private:
  explicit PciAddress(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

}  // namespace ibpod::ib
