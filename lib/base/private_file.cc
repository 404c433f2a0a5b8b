#include "lib/base/private_file.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ibpod {
namespace {

constexpr int kMostLinks = 40;  // as the kernel's (ELOOP)

std::string octal(mode_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", mode & 07777U);
  return text.data();
}

bool is_own_group(gid_t group) {
  if (group == ::getegid()) return true;
  std::vector<gid_t> groups(static_cast<size_t>(std::max(0, ::getgroups(0, nullptr))));
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<size_t>(std::max(0, count)));
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

Status check_owner(const struct stat& found, const std::string& what, const std::string& mend) {
  if (found.st_uid == 0 || found.st_uid == ::geteuid()) return ok();
  return Error(Code::denied, what + " belongs to user " + std::to_string(found.st_uid) +
                                 "; that user can replace it: run " + mend);
}

// In a sticky folder others can make entries, and replace none.
enum class Sticky { is_safe, counts };
enum class Group { counts, may_write };

Status check_folder(const struct stat& found, const std::string& what, Sticky sticky, Group group) {
  TRY(check_owner(found, what, "chown root " + what));
  const bool by_others = (found.st_mode & S_IWOTH) != 0;
  const bool by_group =
      group == Group::counts && (found.st_mode & S_IWGRP) != 0 && !is_own_group(found.st_gid);
  const bool safe = sticky == Sticky::is_safe && (found.st_mode & S_ISVTX) != 0;
  if (safe || (!by_others && !by_group)) return ok();
  return Error(Code::denied, what + " has mode " + octal(found.st_mode) +
                                 ": other users can replace files in it; run chmod go-w " + what);
}

// In a sticky folder any user can make a link that leads to a file of root's. `found`: what is at
// the path itself.
Result<std::optional<Path>> link_of(const Path& path, struct stat& found) {
  TRY(sys("open " + path.string(), [&] { return ::lstat(path.c_str(), &found); }));
  if (!S_ISLNK(found.st_mode)) return std::optional<Path>();
  TRY(check_owner(found, "the link " + path.string(), "chown -h root " + path.string()));
  std::string target(4096, '\0');
  const ssize_t length = TRY(sys("read the link " + path.string(), [&] {
    return ::readlink(path.c_str(), target.data(), target.size());
  }));
  target.resize(static_cast<size_t>(length));
  return std::optional<Path>(target);
}

// Every folder that a lookup of `path` reads, through all links.
Status check_way(Path path, Group group = Group::counts) {
  for (int links = 0; links <= kMostLinks;) {
    Path at = "/";
    auto part = path.relative_path().begin();
    const Path relative = path.relative_path();
    std::optional<Path> target;
    struct stat found = {};
    TRY(sys("stat /", [&] { return ::stat("/", &found); }));
    for (part = relative.begin(); part != relative.end() && !target; ++part) {
      TRY(check_folder(found, at.string(), Sticky::is_safe, group));
      target = TRY(link_of(at / *part, found));
      if (!target) at /= *part;
    }
    if (!target) return ok();
    ++links;
    path = target->is_absolute() ? *target : at / *target;
    for (; part != relative.end(); ++part) path /= *part;
  }
  return Error(Code::invalid, path.string() + ": too many links");
}

// The access that other users must not have.
enum class Refused { access, writes };

Status check_file(const struct stat& found, const std::string& what, Refused refused) {
  if (!S_ISREG(found.st_mode)) return Error(Code::denied, what + " is not a regular file");
  TRY(check_owner(found, what, "chown root " + what));
  mode_t open = found.st_mode & (refused == Refused::access ? 077U : 022U);
  if ((open & S_IRGRP) != 0 && is_own_group(found.st_gid)) open &= ~static_cast<mode_t>(S_IRGRP);
  if (open == 0) return ok();
  const std::string mode = what + " has mode " + octal(found.st_mode);
  if (refused == Refused::writes)
    return Error(Code::denied, mode + ": other users can write to it; run chmod go-w " + what);
  return Error(Code::denied, mode + ": other users can access it; run chmod 0600 " + what +
                                 " (for a Secret: defaultMode 0400)");
}

Result<Fd> open_checked(const Path& path, Refused refused) {
  const std::string what = path.string();
  std::error_code error;
  TRY(check_way(std::filesystem::absolute(path, error)));
  Fd fd(TRY(sys("open " + what, [&] {
    return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  })));
  struct stat found = {};
  TRY(sys("stat " + what, [&] { return ::fstat(fd.get(), &found); }));
  TRY(check_file(found, what, refused));
  return fd;
}

Result<std::string> read_checked(const Path& path, size_t limit, Refused refused) {
  const Fd fd = TRY(open_checked(path, refused));
  return read_all(fd, path.string(), limit);
}

}  // namespace

Status check_private(const Path& path) {
  TRY(open_checked(path, Refused::access));
  return ok();
}

Result<std::string> read_private_file(const Path& path, size_t limit) {
  return read_checked(path, limit, Refused::access);
}

Result<std::string> read_trusted_file(const Path& path, size_t limit) {
  return read_checked(path, limit, Refused::writes);
}

Status check_trusted_folder(const Path& folder) {
  std::error_code error;
  const Status way = check_way(std::filesystem::absolute(folder, error) / "entry");
  struct stat found = {};
  if (!way && way.error().code() != Code::not_found) return way;
  if (::stat(folder.c_str(), &found) != 0) return ok();
  return check_folder(found, folder.string(), Sticky::counts, Group::counts);
}

Result<Fd> open_trusted_log(const Path& path) {
  std::error_code error;
  const Path file = std::filesystem::absolute(path, error);
  const std::string folder = file.parent_path().string();
  TRY(check_way(file.parent_path(), Group::may_write));
  const Fd parent(TRY(sys(
      "open " + folder, [&] { return ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); })));
  struct stat found = {};
  TRY(sys("stat " + folder, [&] { return ::fstat(parent.get(), &found); }));
  const Status private_folder = check_folder(found, folder, Sticky::counts, Group::counts);
  if (!private_folder)
    return Error(Code::denied, private_folder.error().text() +
                                   ", or name a file in a folder that only root can write");
  constexpr int kFlags =
      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  Fd fd(TRY(sys("open " + file.string(),
                [&] { return ::openat(parent.get(), file.filename().c_str(), kFlags, 0600); })));
  TRY(sys("stat " + file.string(), [&] { return ::fstat(fd.get(), &found); }));
  TRY(check_file(found, file.string(), Refused::writes));
  return fd;
}

}  // namespace ibpod
