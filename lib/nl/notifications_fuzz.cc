#include "lib/nl/notifications.h"
#include "tests/support/fuzz.h"

#include <set>
#include <span>

namespace {

using ibpod::fuzz::require;
using Names = std::set<std::string>;

// They lie in the datagram, and are text.
void check_names(const Names& names, size_t size) {
  size_t taken = 0;
  for (const std::string& name : names) {
    require(name.find('\0') == name.npos);
    taken += name.size();
  }
  require(taken <= size);
}

}  // namespace

// For any datagram of announcements, names and paths are taken from its bytes alone.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const std::vector<std::byte> datagram(bytes.begin(), bytes.end());  // aligned, as from a socket
  const auto path = ibpod::nl::parse_uevent(datagram);
  if (path) require(path->starts_with('/'));
  if (path) check_names({*path}, size);
  Names links, rdma_devices;
  (void)ibpod::nl::parse_link_notification(datagram, links);
  (void)ibpod::nl::parse_rdma_notification(datagram, rdma_devices);
  check_names(links, size);
  check_names(rdma_devices, size);
  return 0;
}
