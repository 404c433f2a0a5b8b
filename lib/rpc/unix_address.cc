#include "lib/rpc/unix_address.h"

#include <sys/socket.h>

namespace ibpod::rpc {

Result<sockaddr_un> unix_address(const Path& path) {
  const std::string& text = path.native();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (text.empty()) return Error(Code::invalid, "the path of a Unix socket is empty");
  if (text.size() >= sizeof address.sun_path) {
    return Error(Code::invalid, text + ": the path of a Unix socket has at most " +
                                    std::to_string(sizeof address.sun_path - 1) + " bytes, not " +
                                    std::to_string(text.size()));
  }
  text.copy(address.sun_path, text.size());
  return address;
}

Result<Fd> unix_socket() {
  return Fd(TRY(sys("open a Unix socket", [] {
    return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  })));
}

Result<Fd> connect_socket(const Path& path) {
  const sockaddr_un address = TRY(unix_address(path));
  Fd fd = TRY(unix_socket());
  const Result<int> connected = sys("connect to " + path.string(), [&] {
    return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  });
  if (connected) return fd;
  // A socket without a listener: its program has ended, or does not listen yet.
  if (connected.error().error_number() != ECONNREFUSED) return connected.error();
  return Error(Code::unavailable, connected.error().text());
}

}  // namespace ibpod::rpc
