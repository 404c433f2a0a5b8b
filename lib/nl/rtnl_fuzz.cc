#include "lib/nl/rtnl.h"

#include <vector>

// The parsers of route messages take whatever there is.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const std::vector<std::byte> payload(bytes.begin(), bytes.end());  // aligned, as from a socket
  ibpod::nl::IfIndex link{};
  (void)ibpod::nl::parse_link(payload).ok();
  (void)ibpod::nl::parse_vf_settings(payload).ok();
  (void)ibpod::nl::parse_address(payload, link).ok();
  (void)ibpod::nl::parse_route(payload, link).ok();
  return 0;
}
