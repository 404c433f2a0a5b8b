#include "lib/nl/drain.h"

#include <cerrno>
#include <cstddef>

#include <sys/socket.h>

namespace ibpod::nl {

void discard_arrived(const Fd& socket) {
  std::byte byte{};
  while (::recv(socket.get(), &byte, sizeof byte, MSG_DONTWAIT) >= 0 || errno == EINTR ||
         errno == ENOBUFS) {
  }
}

}  // namespace ibpod::nl
