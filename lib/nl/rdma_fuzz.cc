#include "lib/nl/rdma.h"

#include <vector>

// The parsers of RDMA messages take whatever there is.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const std::vector<std::byte> payload(bytes.begin(), bytes.end());  // aligned, as from a socket
  (void)ibpod::nl::parse_rdma_device(payload).ok();
  (void)ibpod::nl::parse_rdma_system(payload).ok();
  (void)ibpod::nl::parse_kernel_queue_pairs(payload).ok();
  (void)ibpod::nl::parse_context_owners(payload).ok();
  return 0;
}
