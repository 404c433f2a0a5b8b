// System calls that can change something outside of the process that makes them: the steps at which
// a program is made to fail or is killed.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <sys/types.h>

namespace ibpod::vm {

struct SystemCall {
  uint64_t number = 0;
  std::array<uint64_t, 6> arguments{};
};

// Counted are: files opened for writing or made, written (but not to standard output and error),
// renamed, removed, flushed, locked; sockets made and sent to; namespaces and mounts; threads,
// processes, programs; ioctl. A question over netlink is a message sent like any other.
bool counts(const SystemCall& call);

// "rename /var/lib/x", "sendmsg RTM_NEWLINK": for people. Reads what it points at out of the
// stopped process.
std::string describe(pid_t process, const SystemCall& call);

}  // namespace ibpod::vm
