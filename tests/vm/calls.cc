#include "tests/vm/calls.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

namespace ibpod::vm {
namespace {

struct Kind {
  long number;
  const char* name;
  int path = -1;  // the argument that points at a path
};

constexpr Kind kKinds[] = {
    {SYS_open, "open", 0},
    {SYS_openat, "openat", 1},
    {SYS_creat, "creat", 0},
    {SYS_write, "write"},
    {SYS_writev, "writev"},
    {SYS_pwrite64, "pwrite"},
    {SYS_ftruncate, "ftruncate"},
    {SYS_sendto, "sendto"},
    {SYS_sendmsg, "sendmsg"},
    {SYS_rename, "rename", 1},
    {SYS_renameat, "renameat", 3},
    {SYS_renameat2, "renameat2", 3},
    {SYS_unlink, "unlink", 0},
    {SYS_unlinkat, "unlinkat", 1},
    {SYS_mkdir, "mkdir", 0},
    {SYS_mkdirat, "mkdirat", 1},
    {SYS_rmdir, "rmdir", 0},
    {SYS_link, "link", 1},
    {SYS_symlink, "symlink", 1},
    {SYS_chmod, "chmod", 0},
    {SYS_fchmod, "fchmod"},
    {SYS_fsync, "fsync"},
    {SYS_fdatasync, "fdatasync"},
    {SYS_flock, "flock"},
    {SYS_setns, "setns"},
    {SYS_unshare, "unshare"},
    {SYS_mount, "mount", 1},
    {SYS_umount2, "umount2", 0},
    {SYS_fsopen, "fsopen", 0},
    {SYS_fsconfig, "fsconfig"},
    {SYS_fsmount, "fsmount"},
    {SYS_move_mount, "move_mount"},
    {SYS_clone, "clone"},
    {SYS_clone3, "clone3"},
    {SYS_fork, "fork"},
    {SYS_vfork, "vfork"},
    {SYS_execve, "execve", 0},
    {SYS_socket, "socket"},
    {SYS_bind, "bind"},
    {SYS_ioctl, "ioctl"},
};

const Kind* kind_of(const SystemCall& call) {
  const auto same = [&](const Kind& kind) {
    return static_cast<uint64_t>(kind.number) == call.number;
  };
  const Kind* const found = std::find_if(std::begin(kKinds), std::end(kKinds), same);
  return found == std::end(kKinds) ? nullptr : found;
}

size_t read_memory(pid_t process, uint64_t address, void* into, size_t size) {
  const iovec here{into, size};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address in the other process
  const iovec there{reinterpret_cast<void*>(address), size};
  const ssize_t count = ::process_vm_readv(process, &here, 1, &there, 1, 0);
  return count < 0 ? 0 : static_cast<size_t>(count);
}

std::string read_text(pid_t process, uint64_t address) {
  char text[256] = {};
  // A text that ends near the end of its page is read up to there.
  const size_t page = 4096 - address % 4096;
  read_memory(process, address, text, std::min(sizeof text - 1, page));
  return text;
}

// The first header of what is sent, where it looks like netlink.
std::string read_message(pid_t process, const SystemCall& call) {
  uint64_t start = call.arguments[1];
  if (call.number == SYS_sendmsg) {
    msghdr header{};
    iovec part{};
    read_memory(process, start, &header, sizeof header);
    read_memory(process, reinterpret_cast<uint64_t>(header.msg_iov), &part, sizeof part);
    start = reinterpret_cast<uint64_t>(part.iov_base);
  }
  nlmsghdr message{};
  if (read_memory(process, start, &message, sizeof message) != sizeof message) return "";
  switch (message.nlmsg_type) {
    case RTM_NEWLINK:
      return "RTM_NEWLINK";
    case RTM_DELLINK:
      return "RTM_DELLINK";
    case RTM_GETLINK:
      return "RTM_GETLINK";
    case RTM_SETLINK:
      return "RTM_SETLINK";
    case RTM_NEWADDR:
      return "RTM_NEWADDR";
    case RTM_GETADDR:
      return "RTM_GETADDR";
    case RTM_NEWROUTE:
      return "RTM_NEWROUTE";
    case RTM_NEWLINKPROP:
      return "RTM_NEWLINKPROP";
    case RTM_DELLINKPROP:
      return "RTM_DELLINKPROP";
    default:
      return "message " + std::to_string(message.nlmsg_type);
  }
}

}  // namespace

bool counts(const SystemCall& call) {
  constexpr uint64_t kWriting = O_CREAT | O_TRUNC | O_WRONLY | O_RDWR;
  switch (call.number) {
    case SYS_open:
      return (call.arguments[1] & kWriting) != 0;
    case SYS_openat:
      return (call.arguments[2] & kWriting) != 0;
    case SYS_write:
    case SYS_writev:
      return call.arguments[0] != 1 && call.arguments[0] != 2;
    default:
      return kind_of(call) != nullptr;
  }
}

std::string describe(pid_t process, const SystemCall& call) {
  const Kind* const kind = kind_of(call);
  if (kind == nullptr) return "call " + std::to_string(call.number);
  std::string text = kind->name;
  if (kind->path >= 0) {
    return text + " " + read_text(process, call.arguments[static_cast<size_t>(kind->path)]);
  }
  if (call.number == SYS_sendmsg || call.number == SYS_sendto) {
    return text + " " + read_message(process, call);
  }
  return text + " " + std::to_string(static_cast<int>(call.arguments[0]));
}

}  // namespace ibpod::vm
