#include "lib/sysfs/sysfs.h"

#include "lib/base/run_on_thread.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

namespace ibpod::sysfs {
namespace {

constexpr unsigned kReadOnly =
    MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;

// True if one of the path's components is "..".
bool climbs(std::string_view path) {
  while (true) {
    const size_t end = path.find('/');
    if (path.substr(0, end) == "..") return true;
    if (end == path.npos) return false;
    path.remove_prefix(end + 1);
  }
}

// Names come from configurations too: none of them leads out of the root.
Status check_inside(const Path& path) {
  const std::string& text = path.native();
  if (!text.empty() && text.front() != '/' && !climbs(text)) return ok();
  return Error(Code::invalid, "\"" + path.string() + "\" is not a path inside sysfs");
}

// With the words of a failure, which success does not pay for.
template <typename T>
Result<T> about(const Path& path, const char* what, const Result<T>& done) {
  if (done) return done;
  return Error::from_errno(done.error().error_number(), what + (" " + path.string()));
}

Result<Fd> open_below(const Fd& root, const Path& path, int flags, const char* what = "open") {
  TRY(check_inside(path));
  const int fd =
      TRY(about(path, what,
                sys(what, [&] { return ::openat(root.get(), path.c_str(), flags | O_CLOEXEC); })));
  return Fd(fd);
}

// In the calling thread's namespace, which fsopen() takes from it.
Result<Fd> mount_fresh() {
  const Fd context(TRY(sys("fsopen sysfs", [] { return ::fsopen("sysfs", FSOPEN_CLOEXEC); })));
  TRY(sys("fsconfig sysfs",
          [&] { return ::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0); }));
  return Fd(TRY(
      sys("fsmount sysfs", [&] { return ::fsmount(context.get(), FSMOUNT_CLOEXEC, kReadOnly); })));
}

}  // namespace

Result<Sysfs> Sysfs::open(const Path& root) {
  Fd fd(TRY(sys("open " + root.string(),
                [&] { return ::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); })));
  return Sysfs(std::move(fd));
}

Result<Sysfs> Sysfs::of_own_netns() {
  Fd root = TRY(mount_fresh().during("mount the sysfs of a network namespace"));
  return Sysfs(std::move(root));
}

Result<Sysfs> Sysfs::of_netns(const Fd& netns) {
  Result<Sysfs> mounted = Error(Code::internal, "not mounted");
  TRY(run_in_netns(netns, "enter a network namespace", [&] {
    mounted = of_own_netns();
    return ok();
  }));
  return mounted;
}

Result<Sysfs> Sysfs::below(const Path& folder) const {
  Fd fd = TRY(open_below(root_, folder, O_PATH | O_DIRECTORY));
  return Sysfs(std::move(fd));
}

Result<std::string> Sysfs::read(const Path& file) const {
  const Fd fd = TRY(open_below(root_, file, O_RDONLY));
  std::string content;
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t count = TRY(about(
        file, "read", sys("read", [&] { return ::read(fd.get(), buffer.data(), buffer.size()); })));
    content.append(buffer.data(), static_cast<size_t>(count));
    // An attribute is answered as a whole: less than there is room for is all there is.
    if (static_cast<size_t>(count) < buffer.size()) break;
  }
  if (content.ends_with('\n')) content.pop_back();
  return content;
}

Status Sysfs::write(const Path& file, std::string_view content) const {
  const Result<Fd> fd = open_below(root_, file, O_WRONLY);
  if (!fd && fd.error().error_number() == EROFS) {
    return Error(Code::unsupported,
                 "write " + file.string() + ": the sysfs of a network namespace is read-only");
  }
  if (!fd) return fd.error();
  // One call: an attribute takes what it is given as a whole.
  const ssize_t written = TRY(sys("write " + file.string(), [&] {
    return ::write(fd->get(), content.data(), content.size());
  }));
  if (static_cast<size_t>(written) == content.size()) return ok();
  return Error(Code::internal,
               "write " + file.string() + ": the kernel took only a part of the value");
}

bool Sysfs::exists(const Path& path) const {
  struct stat found;
  return check_inside(path).ok() &&
         ::fstatat(root_.get(), path.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
}

// By getdents64() itself: readdir() asks twice more of each folder, and an inventory has thousands.
Result<std::vector<std::string>> Sysfs::list(const Path& folder) const {
  std::vector<std::string> names;
  const Result<Fd> fd = open_below(root_, folder, O_RDONLY | O_DIRECTORY, "list");
  if (!fd && fd.error().error_number() == ENOENT) return names;
  if (!fd) return fd.error();
  alignas(dirent64) std::array<std::byte, 8192> entries;
  while (true) {
    const ssize_t size = TRY(about(folder, "list", sys("list", [&] {
                                     return ::getdents64(fd->get(), entries.data(), entries.size());
                                   })));
    // Only an empty answer is the end: after the entries before it, an entry that the kernel
    // cannot report (a name with a '/', verify_dirent_name) is the next call's error.
    if (size == 0) break;
    take_names(std::span(entries).first(static_cast<size_t>(size)), names);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::optional<Path>> Sysfs::link_target(const Path& link) const {
  TRY(check_inside(link));
  std::array<char, 4096> target;
  const auto length =
      about(link, "read the link", sys("read the link", [&] {
              return ::readlinkat(root_.get(), link.c_str(), target.data(), target.size());
            }));
  if (length) {
    return std::optional(Path(std::string_view(target.data(), static_cast<size_t>(*length))));
  }
  if (length.error().error_number() == ENOENT) return std::optional<Path>();
  return length.error();
}

Result<std::optional<std::string>> Sysfs::link_name(const Path& link) const {
  const std::optional<Path> target = TRY(link_target(link));
  std::optional<std::string> name;
  if (target) name = target->filename().string();
  return name;
}

}  // namespace ibpod::sysfs
