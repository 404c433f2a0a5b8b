// Listener: a Unix socket that accepts only connections of this process's user.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/files.h"
#include "lib/base/result.h"

#include <optional>

#include <sys/types.h>

namespace ibpod::rpc {

class Listener {
 public:
  // Appears at `path` with mode 0600, in one step and listening already: made as ".NAME" beside it
  // and renamed. So no client that watches the folder comes too early, and a socket that an ended
  // program has left there is replaced. The folder must exist. busy if another process listens
  // there, exists if `path` is no socket, invalid if it is too long by that dot.
  static Result<Listener> open(const Path& path);
  Listener(Listener&&) = default;
  Listener& operator=(Listener&&) = delete;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  // Removes the socket if the path still leads to it.
  ~Listener();

  // Readable if a connection waits.
  int fd() const { return fd_.get(); }
  // The next connection, non-blocking; nothing if none waits. denied, and closed, if another user
  // made it.
  Result<std::optional<Fd>> accept() const;
  // True if the path still leads to this socket.
  bool in_place() const;

 private:
  Listener(Path path, Fd fd, dev_t device, ino_t inode)
      : path_(std::move(path)), fd_(std::move(fd)), device_(device), inode_(inode) {}
  Path path_;
  Fd fd_;
  dev_t device_;
  ino_t inode_;
};

}  // namespace ibpod::rpc
