#include "lib/netns/each_namespace.h"

#include "lib/netns/mounted.h"
#include "lib/netns/thread.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace ibpod::netns {
namespace {

constexpr std::string_view kSocketLink = "socket:[";
constexpr size_t kMostMounts = 64 << 20;  // bytes of a mountinfo

// A mount namespace as it is seen from one root: what is not below that is not listed.
using MountView = std::tuple<dev_t, ino_t, dev_t, ino_t, uint64_t>;

// A process or descriptor that ends while it is examined has nothing any more.
bool is_over(const Error& error) {
  const int number = error.error_number();
  return number == ENOENT || number == ESRCH || number == EBADF;
}

Result<std::string> link_of(const Path& path) {
  std::string text(128, '\0');
  const ssize_t size = TRY(sys("read the link " + path.string(),
                               [&] { return ::readlink(path.c_str(), text.data(), text.size()); }));
  text.resize(static_cast<size_t>(size));
  return text;
}

Result<MountView> identify_mounts(const Path& thread, const Fd& root) {
  struct stat netns;
  struct statx top;
  const std::string path = thread / "ns/mnt";
  TRY(sys("stat " + path, [&] { return ::stat(path.c_str(), &netns); }));
  TRY(sys("stat the root of " + thread.string(),
          [&] { return ::statx(root.get(), "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &top); }));
  return MountView{netns.st_dev, netns.st_ino, makedev(top.stx_dev_major, top.stx_dev_minor),
                   top.stx_ino, top.stx_mnt_id};
}

class Search {
 public:
  Search(const NamespaceVisitor& visit, Deadline deadline) : visit_(visit), deadline_(deadline) {}

  void look_at_process(const Path& process) {
    const Result<std::vector<std::string>> threads = list_folder(process / "task");
    if (!threads) return note(threads.error());
    std::vector<pid_t> tables;  // a thread of each table of descriptors
    for (const std::string& thread : *threads) {
      if (!goes_on()) return;
      look_at_thread(std::stoi(process.filename()), process / "task" / thread, tables);
    }
  }

  // True if there is something left to search, and time.
  bool goes_on() {
    if (stopped_ || failure_) return false;
    if (!deadline_.passed()) return true;
    note(Error(Code::unavailable, "timed out before all network namespaces were searched"));
    return false;
  }

  Result<std::optional<Error>> end() {
    if (failure_) return *std::move(failure_);
    for (const auto& [inode, error] : closed_) {
      if (!stopped_ && !seen_.contains(inode)) note(error);
    }
    return std::move(gap_);
  }

 private:
  void note(Status looked) {
    if (looked || is_over(looked.error()) || gap_) return;
    gap_ = std::move(looked).error();
  }

  void look_at_thread(pid_t process, const Path& path, std::vector<pid_t>& tables) {
    const pid_t thread = std::stoi(path.filename());
    note(look_at_link(path / "ns/net"));
    note(look_at_mounts(path));
    const bool is_known = std::any_of(tables.begin(), tables.end(), [&](pid_t other) {
      return share_descriptors(other, thread);
    });
    if (is_known) return;
    tables.push_back(thread);
    look_at_descriptors(process, thread, path / "fd");
  }

  Status add(NetNs netns) {
    struct stat file;
    TRY(sys("stat a network namespace", [&] { return ::fstat(netns.fd().get(), &file); }));
    if (!goes_on() || !seen_.insert(file.st_ino).second) return ok();
    Result<bool> enough = visit_(std::move(netns));
    stopped_ = enough && *enough;
    if (!enough) failure_ = std::move(enough).error();
    return ok();
  }

  Status look_at_link(const Path& path) {
    const std::string link = TRY(link_of(path));
    const std::optional<ino_t> inode = inode_of(link);
    if (!inode || seen_.contains(*inode)) return ok();
    NetNs netns = TRY(NetNs::open(path));
    return add(std::move(netns));
  }

  void look_at_descriptors(pid_t process, pid_t thread, const Path& folder) {
    const Result<std::vector<std::string>> numbers = list_folder(folder);
    if (!numbers) return note(numbers.error());
    std::optional<Fd> opened;
    for (const std::string& number : *numbers) {
      if (!goes_on()) return;
      const Result<std::string> link = link_of(folder / number);
      if (!link) {
        note(link.error());
      } else if (link->starts_with(kSocketLink) && !sockets_.contains(*link)) {
        const Status looked = look_at_socket(opened, process, thread, std::stoi(number));
        if (looked) sockets_.insert(*link);
        note(looked);
      } else {
        note(look_at_link(folder / number));
      }
    }
  }

  Status look_at_socket(std::optional<Fd>& opened, pid_t process, pid_t thread, int number) {
    if (!opened) {
      Fd now = TRY(open_thread(process, thread));
      opened.emplace(std::move(now));
    }
    NetNs netns = TRY(namespace_of_socket(*opened, number));
    return add(std::move(netns));
  }

  // Each view once. Threads of one process may have different ones.
  Status look_at_mounts(const Path& thread) {
    const std::string path = thread / "root";
    const Fd root(TRY(sys("open " + path,
                          [&] { return ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); })));
    const MountView view = TRY(identify_mounts(thread, root));
    if (views_.contains(view)) return ok();
    const Result<std::string> mountinfo = read_file(thread / "mountinfo", kMostMounts);
    // EINVAL: those of a thread that has ended and waits for its parent.
    if (!mountinfo && mountinfo.error().error_number() == EINVAL) return ok();
    if (!mountinfo) return mountinfo.error();
    views_.insert(view);
    std::map<ino_t, std::string> closed;
    for (const MountedNamespace& mounted : mounted_namespaces(*mountinfo)) {
      if (!goes_on()) return ok();
      if (!seen_.contains(mounted.inode)) TRY(look_at_mount(root, mounted, closed));
    }
    if (!closed.empty()) remember_closed(closed, read_file(thread / "mountinfo", kMostMounts));
    return ok();
  }

  Status look_at_mount(const Fd& root, const MountedNamespace& mounted,
                       std::map<ino_t, std::string>& closed) {
    Result<std::optional<NetNs>> netns = open_mounted(root, mounted.point);
    if (netns && *netns) TRY(add(*std::move(*netns)));
    const std::string why = netns ? "another mount covers it" : netns.error().text();
    if (!seen_.contains(mounted.inode)) closed.emplace(mounted.inode, why);
    return ok();
  }

  // Those that are still mounted. They may be found elsewhere: which is a gap is known at the end.
  void remember_closed(const std::map<ino_t, std::string>& closed,
                       const Result<std::string>& mountinfo) {
    std::set<ino_t> mounted;
    for (const MountedNamespace& still : mounted_namespaces(mountinfo ? *mountinfo : std::string()))
      mounted.insert(still.inode);
    for (const auto& [inode, why] : closed) {
      if (mountinfo && !mounted.contains(inode)) continue;
      closed_.try_emplace(inode, Code::unavailable,
                          "network namespace " + std::to_string(inode) +
                              " is mounted but cannot be opened: " + why);
    }
  }

  const NamespaceVisitor& visit_;
  Deadline deadline_;
  std::set<ino_t> seen_;
  std::set<MountView> views_;
  std::set<std::string> sockets_;
  std::map<ino_t, Error> closed_;
  std::optional<Error> gap_, failure_;
  bool stopped_ = false;
};

bool is_process(const std::string& name) {
  return name.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

Result<std::optional<Error>> each_namespace(const NamespaceVisitor& visit, Deadline deadline,
                                            const Path& proc) {
  const std::vector<std::string> names = TRY(list_folder(proc));
  Search search(visit, deadline);
  for (const std::string& name : names) {
    if (is_process(name) && search.goes_on()) search.look_at_process(proc / name);
  }
  return search.end();
}

}  // namespace ibpod::netns
