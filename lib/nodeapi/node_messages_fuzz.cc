// For any bytes: an accepted message of the node's API can be written again and is the same then.
// The first byte chooses the message.
#include "lib/nodeapi/messages.h"
#include "tests/support/fuzz.h"

#include <array>

namespace ibpod::nodeapi {
namespace {

template <typename Message>
void there_and_back(const uint8_t* data, size_t size) {
  Message message;
  if (!message.ParseFromArray(data, static_cast<int>(size))) return;
  const auto value = from_message(message);
  fuzz::require(from_message(to_message(value)) == value);
}

// An answer that is only shown is the message itself.
template <typename Message>
void is_parsed(const uint8_t* data, size_t size) {
  Message message;
  if (!message.ParseFromArray(data, static_cast<int>(size))) return;
  fuzz::require(message.ParseFromString(message.SerializeAsString()));
}

void check_binding(const uint8_t* data, size_t size) {
  v1::AttachmentBinding message;
  if (!message.ParseFromArray(data, static_cast<int>(size))) return;
  const Result<Binding> binding = from_message(message);
  if (!binding) return fuzz::check_refusal(binding.error(), size);
  fuzz::require(from_message(to_message(*binding)).value() == *binding);
}

// The corpus goes by the order: what is new comes last.
using Check = void (*)(const uint8_t*, size_t);
constexpr std::array<Check, 6> kChecks{
    is_parsed<v1::Device>,
    is_parsed<v1::Attachment>,
    is_parsed<v1::ExplainResponse>,
    is_parsed<v1::HealthResponse>,
    there_and_back<v1::DeviceOfRequest>,
    check_binding,
};

}  // namespace
}  // namespace ibpod::nodeapi

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibpod::nodeapi;
  if (size > 0) kChecks[data[0] % kChecks.size()](data + 1, size - 1);
  return 0;
}
