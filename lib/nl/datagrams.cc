#include "lib/nl/datagrams.h"

#include <cerrno>
#include <cstddef>
#include <vector>

#include <sys/socket.h>

namespace ibpod::nl {
namespace {

// Of a datagram: a link with the settings of 127 VFs has some 30 KiB.
constexpr size_t kRoom = 64 << 10;

}  // namespace

void discard_datagrams(const Fd& socket) {
  std::byte byte{};
  while (::recv(socket.get(), &byte, sizeof byte, MSG_DONTWAIT) >= 0 || errno == EINTR ||
         errno == ENOBUFS) {
  }
}

bool take_datagrams(const Fd& socket, const std::function<void(Bytes)>& each) {
  std::vector<std::byte> room(kRoom);
  bool complete = true;
  while (true) {
    const ssize_t size = ::recv(socket.get(), room.data(), room.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno != ENOBUFS) return complete;
    complete = complete && size >= 0 && static_cast<size_t>(size) <= room.size();
    if (size > 0 && static_cast<size_t>(size) <= room.size())
      each(Bytes(room).first(static_cast<size_t>(size)));
  }
}

}  // namespace ibpod::nl
