#include "lib/netns/mounted.h"

#include <charconv>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

namespace ibpod::netns {
namespace {

// Decodes the escapes of mountinfo, such as \040.
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

}  // namespace

std::optional<ino_t> inode_of(std::string_view link) {
  constexpr std::string_view kBefore = "net:[";
  if (!link.starts_with(kBefore)) return std::nullopt;
  ino_t inode = 0;
  const char* const end = link.data() + link.size();
  const auto read = std::from_chars(link.data() + kBefore.size(), end, inode);
  const bool whole = read.ec == std::errc() && std::string_view(read.ptr, end) == "]";
  return whole ? std::optional(inode) : std::nullopt;
}

std::vector<MountedNamespace> mounted_namespaces(const std::string& mountinfo) {
  std::vector<MountedNamespace> all;
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string id, parent, device, root, point;
    fields >> id >> parent >> device >> root >> point;
    if (const auto inode = inode_of(root)) all.push_back({*inode, unescaped(point)});
  }
  return all;
}

Result<std::optional<NetNs>> open_mounted(const Fd& root, const std::string& point) {
  struct open_how how = {};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS;
  const Fd fd(TRY(sys("open " + point, [&] {
    return static_cast<int>(::syscall(SYS_openat2, root.get(), point.c_str(), &how, sizeof how));
  })));
  struct statfs found;
  TRY(sys("statfs " + point, [&] { return ::fstatfs(fd.get(), &found); }));
  if (found.f_type != NSFS_MAGIC) return std::optional<NetNs>();
  NetNs netns = TRY(NetNs::open("/proc/self/fd/" + std::to_string(fd.get())));
  return std::optional(std::move(netns));
}

}  // namespace ibpod::netns
