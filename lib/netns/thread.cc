#include "lib/netns/thread.h"

#include <cerrno>
#include <string>

#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ibpod::netns {
namespace {

constexpr unsigned kThread = O_EXCL;  // PIDFD_THREAD; the C library of Debian 12 has no name for it

}  // namespace

Result<Fd> open_thread(pid_t process, pid_t thread) {
  const unsigned flags = thread == process ? 0 : kThread;
  const std::string what = "open thread " + std::to_string(thread) + " of process " +
                           std::to_string(process) + " (it has its own descriptor table)";
  return Fd(TRY(sys(flags == 0 ? "open process " + std::to_string(process) : what,
                    [&] { return static_cast<int>(::syscall(SYS_pidfd_open, thread, flags)); })));
}

bool share_descriptors(pid_t one, pid_t other) {
  return ::syscall(SYS_kcmp, one, other, KCMP_FILES, 0, 0) == 0;
}

Result<NetNs> namespace_of_socket(const Fd& thread, int number) {
  const Fd socket(TRY(sys("take a socket from a process", [&] {
    return static_cast<int>(::syscall(SYS_pidfd_getfd, thread.get(), number, 0));
  })));
  const Fd netns(
      TRY(sys("ask for a socket's namespace", [&] { return ::ioctl(socket.get(), SIOCGSKNS); })));
  return NetNs::open("/proc/self/fd/" + std::to_string(netns.get()));
}

}  // namespace ibpod::netns
