#include "lib/netns/all.h"

#include <cerrno>
#include <charconv>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

namespace ibpod::netns {
namespace {

using FileId = std::pair<dev_t, ino_t>;

constexpr std::string_view kNamespaceLink = "net:[";
constexpr std::string_view kSocketLink = "socket:[";

// What ends while it is looked at has nothing any more (EINVAL: the mounts of a process that waits
// for its parent).
bool is_over(const Error& error) {
  const int number = error.error_number();
  return number == ENOENT || number == ESRCH || number == EBADF || number == EINVAL;
}

Result<FileId> identify(const Path& path) {
  struct stat found;
  TRY(sys("stat " + path.string(), [&] { return ::stat(path.c_str(), &found); }));
  return FileId{found.st_dev, found.st_ino};
}

Result<std::string> link_of(const Path& path) {
  std::string text(128, '\0');
  const ssize_t size = TRY(sys("read the link " + path.string(),
                               [&] { return ::readlink(path.c_str(), text.data(), text.size()); }));
  text.resize(static_cast<size_t>(size));
  return text;
}

Result<Fd> open_process(pid_t pid) {
  return Fd(TRY(sys("open process " + std::to_string(pid),
                    [&] { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); })));
}

// The namespace of a socket that another process has.
Result<NetNs> of_socket(const Fd& process, int number) {
  const Fd socket(TRY(sys("take a socket from a process", [&] {
    return static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), number, 0));
  })));
  const Fd netns(
      TRY(sys("ask for a socket's namespace", [&] { return ::ioctl(socket.get(), SIOCGSKNS); })));
  return NetNs::open("/proc/self/fd/" + std::to_string(netns.get()));
}

// What mountinfo writes as \040 and such.
std::string unescaped(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    int byte = 0;
    const char* const digits = text.data() + i + 1;
    const bool escaped = text[i] == '\\' && i + 3 < text.size() &&
                         std::from_chars(digits, digits + 3, byte, 8).ec == std::errc();
    plain += escaped ? static_cast<char>(byte) : text[i];
    if (escaped) i += 3;
  }
  return plain;
}

// Where network namespaces are mounted, by a text as of /proc/PID/mountinfo.
std::vector<std::string> mounts_of(const std::string& mountinfo) {
  std::vector<std::string> points;
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string id, parent, device, root, point;
    fields >> id >> parent >> device >> root >> point;
    if (root.starts_with(kNamespaceLink)) points.push_back(unescaped(point));
  }
  return points;
}

// A process' own folders may have become links since: those of this node are not followed, and
// nothing but a namespace is opened.
Result<std::optional<NetNs>> open_mounted(const Fd& root, const std::string& point) {
  struct open_how how = {};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS;
  const Fd fd(TRY(sys("open " + point, [&] {
    return static_cast<int>(::syscall(SYS_openat2, root.get(), point.c_str(), &how, sizeof how));
  })));
  struct statfs found;
  TRY(sys("statfs " + point, [&] { return ::fstatfs(fd.get(), &found); }));
  if (found.f_type != NSFS_MAGIC) return std::optional<NetNs>();  // another mount covers it
  NetNs netns = TRY(NetNs::open("/proc/self/fd/" + std::to_string(fd.get())));
  return std::optional(std::move(netns));
}

class Search {
 public:
  explicit Search(Path proc) : proc_(std::move(proc)) {}

  void look_at_process(const std::string& pid) {
    const Path process = proc_ / pid;
    note(look_at_mounts(process));
    const Result<std::vector<std::string>> threads = list_folder(process / "task");
    if (!threads) return note(threads.error());
    for (const std::string& thread : *threads) {
      note(look_at(process / "task" / thread / "ns/net"));
      if (thread == pid || !shares_files(pid, thread))
        look_at_descriptors(process / "task" / thread / "fd", thread);
    }
  }

  AllNamespaces end() { return std::move(all_); }

 private:
  void note(Status looked) {
    if (looked || is_over(looked.error()) || all_.gap) return;
    all_.gap = std::move(looked).error();
  }

  Status add(NetNs netns) {
    struct stat file;
    TRY(sys("stat a network namespace", [&] { return ::fstat(netns.fd().get(), &file); }));
    const bool is_new = seen_.insert({file.st_dev, file.st_ino}).second;
    if (is_new) all_.found.push_back(std::move(netns));
    return ok();
  }

  Status look_at(const Path& path) {
    const FileId id = TRY(identify(path));
    if (seen_.contains(id)) return ok();
    NetNs netns = TRY(NetNs::open(path));
    return add(std::move(netns));
  }

  static bool shares_files(const std::string& one, const std::string& other) {
    return ::syscall(SYS_kcmp, std::stoi(one), std::stoi(other), KCMP_FILES, 0, 0) == 0;
  }

  void look_at_descriptors(const Path& folder, const std::string& thread) {
    const Result<std::vector<std::string>> numbers = list_folder(folder);
    if (!numbers) return note(numbers.error());
    std::optional<Fd> process;
    for (const std::string& number : *numbers) {
      const Result<std::string> link = link_of(folder / number);
      if (!link) {
        note(link.error());
      } else if (link->starts_with(kNamespaceLink)) {
        note(look_at(folder / number));
      } else if (link->starts_with(kSocketLink) && sockets_.insert(*link).second) {
        note(look_at_socket(process, thread, number));
      }
    }
  }

  Status look_at_socket(std::optional<Fd>& process, const std::string& thread,
                        const std::string& number) {
    if (!process) {
      Fd opened = TRY(open_process(std::stoi(thread)));
      process.emplace(std::move(opened));
    }
    NetNs netns = TRY(of_socket(*process, std::stoi(number)));
    return add(std::move(netns));
  }

  // Each mount namespace once, as one of its processes sees it.
  Status look_at_mounts(const Path& process) {
    const FileId id = TRY(identify(process / "ns/mnt"));
    if (!mount_namespaces_.insert(id).second) return ok();
    const std::string mountinfo = TRY(read_file(process / "mountinfo", 64 << 20));
    const Path path = process / "root";
    const Fd root(TRY(sys("open " + path.string(),
                          [&] { return ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); })));
    for (const std::string& point : mounts_of(mountinfo)) {
      Result<std::optional<NetNs>> netns = open_mounted(root, point);
      // Or the process has put something else into its way since.
      if (netns && *netns) TRY(add(*std::move(*netns)));
    }
    return ok();
  }

  Path proc_;
  std::set<FileId> seen_, mount_namespaces_;
  std::set<std::string> sockets_;
  AllNamespaces all_;
};

bool is_process(const std::string& name) {
  return name.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

Result<AllNamespaces> all_namespaces(const Path& proc) {
  Search search(proc);
  const std::vector<std::string> names = TRY(list_folder(proc));
  for (const std::string& name : names) {
    if (is_process(name)) search.look_at_process(name);
  }
  return search.end();
}

}  // namespace ibpod::netns
