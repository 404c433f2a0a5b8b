#include "lib/cni/streams.h"

#include "lib/base/fd.h"

#include <cerrno>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

namespace ibpod::cni {
namespace {

bool is_missing(int fd) {
  const auto flags = sys("fcntl", [&] { return ::fcntl(fd, F_GETFD); });
  return !flags && flags.error().error_number() == EBADF;
}

}  // namespace

Status secure_streams() {
  ::signal(SIGPIPE, SIG_IGN);
  // In this order: open() takes the lowest number that is free.
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (!is_missing(fd)) continue;
    // Opened the wrong way round, so that an answer that cannot be delivered is no success.
    const int mode = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    TRY(sys("open /dev/null for a missing standard stream",
            [&] { return ::open("/dev/null", mode); }));
  }
  return ok();
}

Status print(std::string_view answer) {
  while (!answer.empty()) {
    const ssize_t written = TRY(sys("write the answer to standard output", [&] {
      return ::write(STDOUT_FILENO, answer.data(), answer.size());
    }));
    answer.remove_prefix(static_cast<size_t>(written));
  }
  return ok();
}

}  // namespace ibpod::cni
