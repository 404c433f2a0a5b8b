// Replies: parses the kernel's answers to a request. Pure; for Socket.
#pragma once

#include "lib/base/result.h"
#include "lib/nl/socket.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::nl {

struct Replies {
  std::vector<std::vector<std::byte>> payloads;  // after the netlink headers
  bool interrupted = false;  // NLM_F_DUMP_INTR: entries may be missing or here twice
};

// Adds the replies of a datagram to the request `sequence` and skips others. Returns the result
// (ok, or the kernel's refusal of `what`) when the datagram has the acknowledgement or the end of
// the list.
std::optional<Status> take_replies(Bytes datagram, uint32_t sequence, const std::string& what,
                                   Replies& replies);

}  // namespace ibpod::nl
