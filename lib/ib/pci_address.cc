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

}  // namespace

Result<PciAddress> PciAddress::parse(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  bool good = lower.size() == kForm.size();
  for (size_t i = 0; good && i < kForm.size(); ++i) good = fits(lower[i], kForm[i]);
  // Five bits of device: 0x00 to 0x1f.
  if (!good || lower[8] > '1') {
    return Error(Code::invalid, "\"" + std::string(text) +
                                    "\" is no PCI address: expected a form such as 0000:3b:00.2");
  }
  return PciAddress(lower);
}

}  // namespace ibpod::ib
