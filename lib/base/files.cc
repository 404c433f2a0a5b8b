#include "lib/base/files.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

namespace ibpod {
namespace {

Status flush_folder(const Path& folder) {
  const Path here = folder.empty() ? Path(".") : folder;
  const Fd fd(TRY(sys("open " + here.string(),
                      [&] { return ::open(here.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); })));
  TRY(sys("fsync " + here.string(), [&] { return ::fsync(fd.get()); }));
  return ok();
}

Status write_all(const Fd& fd, std::string_view content, const std::string& what) {
  while (!content.empty()) {
    const ssize_t written = TRY(
        sys("write " + what, [&] { return ::write(fd.get(), content.data(), content.size()); }));
    content.remove_prefix(static_cast<size_t>(written));
  }
  return ok();
}

// A file beside `path`, written and flushed. The name carries our pid: two writers do not meet.
Status write_beside(const Path& beside, std::string_view content) {
  const std::string what = beside.string();
  const Fd fd(TRY(sys("open " + what, [&] {
    return ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  })));
  TRY(write_all(fd, content, what));
  TRY(sys("fsync " + what, [&] { return ::fsync(fd.get()); }));
  return ok();
}

Result<Fd> open_regular(const Path& path) {
  const std::string what = path.string();
  Fd fd(TRY(sys("open " + what,
                [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); })));
  struct stat status {};
  TRY(sys("stat " + what, [&] { return ::fstat(fd.get(), &status); }));
  if (!S_ISREG(status.st_mode)) return Error(Code::invalid, what + " is not a regular file");
  return fd;
}

}  // namespace

Result<std::string> read_file(const Path& path, size_t limit) {
  const Fd fd = TRY(open_regular(path));
  return read_all(fd, path.string(), limit);
}

Result<std::string> read_all(const Fd& fd, const std::string& what, size_t limit) {
  std::string content;
  std::array<char, 16384> buffer;
  while (true) {
    const ssize_t count =
        TRY(sys("read " + what, [&] { return ::read(fd.get(), buffer.data(), buffer.size()); }));
    if (count == 0) return content;
    content.append(buffer.data(), static_cast<size_t>(count));
    if (content.size() > limit) {
      return Error(Code::invalid, what + " is larger than " + std::to_string(limit) + " bytes");
    }
  }
}

Status write_file_atomically(const Path& path, std::string_view content) {
  const Path beside =
      path.parent_path() / ("." + path.filename().string() + "." + std::to_string(::getpid()));
  Status written = write_beside(beside, content);
  if (written) written = replace_file(beside, path);
  if (!written) ::unlink(beside.c_str());
  return written;
}

Status replace_file(const Path& from, const Path& to) {
  TRY(sys("rename to " + to.string(), [&] { return ::rename(from.c_str(), to.c_str()); }));
  return flush_folder(to.parent_path());
}

Status link_file(const Path& from, const Path& to) {
  const Result<int> linked = sys("link " + from.string() + " to " + to.string(),
                                 [&] { return ::link(from.c_str(), to.c_str()); });
  if (!linked && linked.error().error_number() != EEXIST) return linked.error();
  return flush_folder(to.parent_path());
}

Status remove_file(const Path& path) {
  const auto removed = sys("remove " + path.string(), [&] { return ::unlink(path.c_str()); });
  if (!removed && removed.error().error_number() == ENOENT) return ok();
  if (!removed) return removed.error();
  return flush_folder(path.parent_path());
}

Status make_folders(const Path& path) {
  if (path.empty() || path_exists(path)) return ok();
  TRY(make_folders(path.parent_path()));
  const auto made = sys("mkdir " + path.string(), [&] { return ::mkdir(path.c_str(), 0700); });
  if (!made && made.error().code() != Code::exists) return made.error();
  return flush_folder(path.parent_path());
}

Result<std::vector<std::string>> list_folder(const Path& path) {
  std::vector<std::string> names;
  const std::string what = "list " + path.string();
  const Result<int> opened =
      sys(what, [&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (!opened && opened.error().error_number() == ENOENT) return names;
  const Fd folder(TRY(opened));
  alignas(dirent64) std::array<std::byte, 8192> entries;
  while (true) {
    const ssize_t size =
        TRY(sys(what, [&] { return ::getdents64(folder.get(), entries.data(), entries.size()); }));
    if (size == 0) break;
    take_names(std::span(entries).first(static_cast<size_t>(size)), names);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void take_names(std::span<const std::byte> entries, std::vector<std::string>& names) {
  for (size_t at = 0; at < entries.size();) {
    const auto* const entry = reinterpret_cast<const dirent64*>(entries.data() + at);
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    at += entry->d_reclen;
  }
}

bool path_exists(const Path& path) {
  struct stat found;
  return ::lstat(path.c_str(), &found) == 0;
}

Status check_version(int64_t version, int64_t newest) {
  if (version <= newest) return ok();
  return Error(Code::unsupported,
               "version " + std::to_string(version) +
                   " is too new: this program reads up to version " + std::to_string(newest) +
                   "; run the newer ibpod that wrote it (the file is unchanged)");
}

}  // namespace ibpod
