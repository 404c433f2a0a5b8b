// Fd: owns one file descriptor and closes it. The only class that does.
#pragma once

#include "lib/base/result.h"

#include <cerrno>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace ibpod {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { close(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void close() {
    // Linux has released the number even on EINTR: a second close could close another descriptor.
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

// Runs a system call that answers -1 on failure: repeats it on EINTR, turns errno into an Error
// that starts with `what`. The one place that reads errno.
template <typename Call>
auto sys(std::string_view what, Call call) -> Result<decltype(call())> {
  while (true) {
    const auto result = call();
    if (result >= 0) return result;
    if (errno != EINTR) return Error::from_errno(errno, what);
  }
}

}  // namespace ibpod
