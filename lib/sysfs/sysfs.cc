#include "lib/sysfs/sysfs.h"

#include "lib/base/netns_thread.h"

#include <algorithm>
#include <array>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

namespace ibpod::sysfs {
namespace {

constexpr unsigned kReadOnly =
    MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;

// Names come from configurations too: none of them leads out of the root.
Status check_inside(const Path& path) {
  const bool climbs = std::find(path.begin(), path.end(), "..") != path.end();
  if (!path.empty() && path.is_relative() && !climbs) return ok();
  return Error(Code::invalid, "\"" + path.string() + "\" is no path below the root of a sysfs");
}

Result<Fd> open_below(const Fd& root, const Path& path, int flags) {
  TRY(check_inside(path));
  return Fd(TRY(sys("open " + path.string(),
                    [&] { return ::openat(root.get(), path.c_str(), flags | O_CLOEXEC); })));
}

// In the calling thread's namespace, which fsopen() takes from it.
Result<Fd> mount_fresh() {
  const Fd context(TRY(sys("fsopen sysfs", [] { return ::fsopen("sysfs", FSOPEN_CLOEXEC); })));
  TRY(sys("fsconfig sysfs",
          [&] { return ::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0); }));
  return Fd(TRY(
      sys("fsmount sysfs", [&] { return ::fsmount(context.get(), FSMOUNT_CLOEXEC, kReadOnly); })));
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

Result<Folder> open_folder(const Fd& root, const Path& path) {
  TRY(check_inside(path));
  const int fd = TRY(sys("list " + path.string(), [&] {
    return ::openat(root.get(), path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }));
  Folder folder(::fdopendir(fd));  // takes the descriptor along
  if (folder) return folder;
  const Fd closes(fd);
  return Error(Code::internal, "list " + path.string() + ": out of memory");
}

Result<std::vector<std::string>> names_in(DIR* folder, const std::string& what) {
  std::vector<std::string> names;
  while (true) {
    errno = 0;  // readdir() tells the end from a failure by nothing else
    const dirent* const entry = ::readdir(folder);
    if (entry == nullptr && errno != 0) return Error::from_errno(errno, what);
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Result<Sysfs> Sysfs::open(const Path& root) {
  Fd fd(TRY(sys("open " + root.string(),
                [&] { return ::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); })));
  return Sysfs(std::move(fd));
}

Result<Sysfs> Sysfs::of_netns(const Fd& netns) {
  Result<Fd> mounted = Error(Code::internal, "not mounted");
  TRY(run_in_netns(netns, "enter a network namespace", [&] {
    mounted = mount_fresh();
    return ok();
  }));
  Fd root = TRY(std::move(mounted).during("mount the sysfs of a network namespace"));
  return Sysfs(std::move(root));
}

Result<std::string> Sysfs::read(const Path& file) const {
  const Fd fd = TRY(open_below(root_, file, O_RDONLY));
  std::string content;
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t count = TRY(sys("read " + file.string(),
                                  [&] { return ::read(fd.get(), buffer.data(), buffer.size()); }));
    if (count == 0) break;
    content.append(buffer.data(), static_cast<size_t>(count));
  }
  if (content.ends_with('\n')) content.pop_back();
  return content;
}

Status Sysfs::write(const Path& file, std::string_view content) const {
  const Result<Fd> fd = open_below(root_, file, O_WRONLY);
  if (!fd && fd.error().error_number() == EROFS) {
    return Error(Code::unsupported, "write " + file.string() + ": a namespace's view is read-only");
  }
  if (!fd) return fd.error();
  // One call: an attribute takes what it is given as a whole.
  const ssize_t written = TRY(sys("write " + file.string(), [&] {
    return ::write(fd->get(), content.data(), content.size());
  }));
  if (static_cast<size_t>(written) == content.size()) return ok();
  return Error(Code::internal, "write " + file.string() + ": only a part was taken");
}

bool Sysfs::exists(const Path& path) const {
  struct stat found;
  return check_inside(path).ok() &&
         ::fstatat(root_.get(), path.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
}

Result<std::vector<std::string>> Sysfs::list(const Path& folder) const {
  const Result<Folder> opened = open_folder(root_, folder);
  if (opened) return names_in(opened->get(), "list " + folder.string());
  if (opened.error().error_number() == ENOENT) return std::vector<std::string>();
  return opened.error();
}

Result<std::optional<std::string>> Sysfs::link_name(const Path& link) const {
  TRY(check_inside(link));
  std::array<char, 4096> target;
  const auto length = sys("read the link " + link.string(), [&] {
    return ::readlinkat(root_.get(), link.c_str(), target.data(), target.size());
  });
  if (length) {
    const Path path(std::string_view(target.data(), static_cast<size_t>(*length)));
    return std::optional(path.filename().string());
  }
  if (length.error().error_number() == ENOENT) return std::optional<std::string>();
  return length.error();
}

}  // namespace ibpod::sysfs
