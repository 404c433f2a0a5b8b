#include "lib/ib/pci_address.h"

#include "lib/ib/hex.h"

namespace ibpod::ib {
namespace {

constexpr std::string_view kForm = "hhhh:hh:hh.o";

bool fits(char c, char form) {
  if (form == 'h') return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  if (form == 'o') return c >= '0' && c <= '7';
  return c == form;
}

bool has_form(std::string_view lower) {
  bool good = lower.size() == kForm.size();
  for (size_t i = 0; good && i < kForm.size(); ++i) good = fits(lower[i], kForm[i]);
  // Five bits of device: 0x00 to 0x1f.
  return good && lower[8] <= '1';
}

// As lspci prints it where there is one domain only.
std::string expected_for(const std::string& lower) {
  const std::string whole = "0000:" + lower;
  return has_form(whole) ? ": write " + whole : ": expected a form such as 0000:3b:00.2";
}

}  // namespace

Result<PciAddress> PciAddress::parse(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  if (has_form(lower)) return PciAddress(lower);
  return Error(Code::invalid,
               "\"" + std::string(text) + "\" is not a PCI address" + expected_for(lower));
}

uint32_t PciAddress::number() const {
  const auto part = [this](size_t begin, size_t size) {
    return static_cast<uint32_t>(
        parse_hex(std::string_view(text_).substr(begin, size)).value_or(0));
  };
  return empty() ? 0 : part(0, 4) << 16 | part(5, 2) << 8 | part(8, 2) << 3 | part(11, 1);
}

}  // namespace ibpod::ib
