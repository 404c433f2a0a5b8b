// Replies: takes the kernel's datagrams apart. Pure; for Socket.
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
  std::vector<std::vector<std::byte>> payloads;  // behind the netlink headers
  bool interrupted = false;  // NLM_F_DUMP_INTR: entries may be missing or here twice
};

// Adds to `replies` what a datagram says to the request under `sequence`; messages to other
// requests are passed over. The verdict (ok, or the kernel's refusal of what `what` describes) once
// the datagram holds the acknowledgement or the end of the list.
std::optional<Status> take_replies(Bytes datagram, uint32_t sequence, const std::string& what,
                                   Replies& replies);

}  // namespace ibpod::nl
