#include "lib/rpc/listener.h"

#include "lib/rpc/unix_address.h"

#include <sys/socket.h>
#include <sys/stat.h>

namespace ibpod::rpc {
namespace {

// A connection that is not accepted yet waits; 500 pods that start at once are no error.
constexpr int kQueue = 1024;

// ok() if the path may be taken: it does not exist, or is a socket without a listener.
Status check_free(const Path& path) {
  struct stat found;
  if (::lstat(path.c_str(), &found) != 0) return ok();
  if (!S_ISSOCK(found.st_mode)) {
    return Error(Code::exists, path.string() + ": a file that is not a socket is there");
  }
  if (!connect_socket(path)) return ok();
  return Error(Code::busy, path.string() + ": another process listens there");
}

Result<Fd> listen_at(const Path& path) {
  const sockaddr_un address = TRY(unix_address(path));
  Fd fd = TRY(unix_socket());
  // Before bind, so that the file is never there with another mode.
  TRY(sys("fchmod", [&] { return ::fchmod(fd.get(), 0600); }));
  TRY(sys("bind " + path.string(), [&] {
    return ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }));
  TRY(sys("listen", [&] { return ::listen(fd.get(), kQueue); }));
  return fd;
}

Status check_peer(const Fd& connection) {
  ucred peer{};
  socklen_t size = sizeof peer;
  TRY(sys("SO_PEERCRED",
          [&] { return ::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size); }));
  if (peer.uid == ::geteuid()) return ok();
  return Error(Code::denied, "process " + std::to_string(peer.pid) + " runs as user " +
                                 std::to_string(peer.uid) + ", not " + std::to_string(::geteuid()));
}

}  // namespace

Result<Listener> Listener::open(const Path& path) {
  TRY(check_free(path));
  const Path hidden = path.parent_path() / ("." + path.filename().string());
  ::unlink(hidden.c_str());  // of a process that died between bind and rename
  Fd fd = TRY(listen_at(hidden));
  struct stat made;
  TRY(sys("stat " + hidden.string(), [&] { return ::lstat(hidden.c_str(), &made); }));
  TRY(sys("rename to " + path.string(), [&] { return ::rename(hidden.c_str(), path.c_str()); }));
  return Listener(path, std::move(fd), made.st_dev, made.st_ino);
}

Listener::~Listener() {
  if (fd_.valid() && in_place()) ::unlink(path_.c_str());
}

Result<std::optional<Fd>> Listener::accept() const {
  const Result<int> accepted = sys("accept", [&] {
    return ::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  });
  if (!accepted && accepted.error().error_number() == EAGAIN) return std::optional<Fd>();
  Fd connection(TRY(accepted));
  TRY(check_peer(connection));
  return std::optional<Fd>(std::move(connection));
}

// The socket keeps its inode, so no other file can have that number meanwhile.
bool Listener::in_place() const {
  struct stat found;
  return ::lstat(path_.c_str(), &found) == 0 && found.st_dev == device_ && found.st_ino == inode_;
}

}  // namespace ibpod::rpc
