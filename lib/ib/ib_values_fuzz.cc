// For any text: as a GUID, a P_Key, a PCI address or a number in hex it is accepted or refused with
// a reason, and an accepted value is written so that it reads the same again.
#include "lib/ib/guid.h"
#include "lib/ib/hex.h"
#include "lib/ib/pci_address.h"
#include "lib/ib/pkey.h"
#include "tests/support/fuzz.h"

namespace ibpod::ib {
namespace {

template <typename Value>
void there_and_back(std::string_view text) {
  const Result<Value> value = Value::parse(text);
  if (!value) return fuzz::check_refusal(value.error(), text.size());
  const std::string written = value->text();
  fuzz::require(Value::parse(written).value() == *value);
  fuzz::require(written.find_first_not_of("0123456789abcdefx:.") == written.npos);
}

}  // namespace
}  // namespace ibpod::ib

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibpod;
  const std::string text(fuzz::text_of(data, size));
  ib::there_and_back<ib::Guid>(text);
  ib::there_and_back<ib::PKey>(text);
  ib::there_and_back<ib::PciAddress>(text);
  const auto number = ib::parse_hex(text);
  if (number) fuzz::require(ib::parse_hex(ib::hex(*number, 16)) == *number);
  return 0;
}
