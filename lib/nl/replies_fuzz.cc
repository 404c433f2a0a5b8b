#include "lib/nl/replies.h"

#include <cstdlib>
#include <vector>

// For any datagram, the payloads taken from it are inside it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint32_t kRecordedUnder = 7;
  const auto bytes = std::as_bytes(std::span(data, size));
  const std::vector<std::byte> datagram(bytes.begin(), bytes.end());  // aligned, as from a socket
  ibpod::nl::Replies replies;
  const auto verdict = ibpod::nl::take_replies(datagram, kRecordedUnder, "list", replies);
  if (verdict && !*verdict && verdict->error().text().empty()) std::abort();
  size_t taken = 0;
  for (const std::vector<std::byte>& payload : replies.payloads) taken += payload.size();
  if (taken > size) std::abort();
  return 0;
}
