// Whole files: read, replaced atomically, listed. Paths are values; nothing here knows where the
// project keeps what.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/fd.h"
#include "lib/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod {

using Path = std::filesystem::path;

// The whole content of a regular file. not_found if it does not exist; invalid if it is larger than
// `limit`, or no regular file: a FIFO would be waited for without end.
Result<std::string> read_file(const Path& path, size_t limit = 4 << 20);

// Replaces the file or makes it (mode 0600): written beside it, flushed to disk, renamed, and the
// folder flushed too, so that after a crash there is the old content or the new one, never a
// mixture. The folder must exist.
Status write_file_atomically(const Path& path, std::string_view content);

// Puts a file, of the same folder, into another's place, and flushes the folder.
Status replace_file(const Path& from, const Path& to);

// Gives a file of the same file system a second name, for which a full disk has room, and flushes
// the folder. A file that has that name already stays.
Status link_file(const Path& from, const Path& to);

// Removes a file and flushes the folder. One that is gone is a success.
Status remove_file(const Path& path);

// Makes a folder and those above it, mode 0700. One that exists is a success. What was made is
// flushed to disk.
Status make_folders(const Path& path);

// The names in a folder, sorted, without "." and ".."; none where the folder does not exist.
Result<std::vector<std::string>> list_folder(const Path& path);

// Whether an entry is there (a dangling link is).
bool path_exists(const Path& path);

// What is kept from one program to the next has a version. unsupported, with what to do, where that
// is newer than the newest that is read here; whoever asks names the file, and leaves it as it is.
Status check_version(int64_t version, int64_t newest);

// Tells of changes in one folder (entries made, removed, renamed, closed after they were written
// to; the folder itself removed or moved).
class FolderWatch {
 public:
  static Result<FolderWatch> open(const Path& folder);
  // Waits for a change since open() or the last call. False when the deadline passed without one.
  Result<bool> wait(Deadline deadline);
  // Readable when there was a change, for those who wait for other things too.
  int fd() const { return fd_.get(); }

 private:
  explicit FolderWatch(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace ibpod
