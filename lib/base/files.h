// Whole files: read, replace atomically, list. Paths are arguments: nothing here knows the
// project's folders.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/fd.h"
#include "lib/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod {

using Path = std::filesystem::path;

// The whole content of a regular file. not_found if it does not exist; invalid if it is larger than
// `limit` or not a regular file (reading a FIFO would block).
Result<std::string> read_file(const Path& path, size_t limit = 4 << 20);

// The rest of an open file, called `what` in errors; invalid if it is larger than `limit`.
Result<std::string> read_all(const Fd& fd, const std::string& what, size_t limit);

// Replaces or creates the file (mode 0600): writes a temporary file next to it, flushes, renames,
// and flushes the folder. After a crash the content is the old one or the new one. The folder must
// exist.
Status write_file_atomically(const Path& path, std::string_view content);

// Renames a file onto another of the same folder, and flushes the folder.
Status replace_file(const Path& from, const Path& to);

// Gives a file a second name on the same file system, and flushes the folder. Works on a full disk.
// An existing file of that name stays.
Status link_file(const Path& from, const Path& to);

// Removes a file and flushes the folder. A missing file is a success.
Status remove_file(const Path& path);

// Creates a folder and its parents, mode 0700, and flushes them. An existing folder is a success.
Status make_folders(const Path& path);

// The names in a folder, sorted, without "." and ".."; empty if the folder does not exist.
Result<std::vector<std::string>> list_folder(const Path& path);
// Adds the names in an answer of getdents64(2), without "." and "..".
void take_names(std::span<const std::byte> entries, std::vector<std::string>& names);

// True if the entry exists; a dangling link does.
bool path_exists(const Path& path);

// Checks the version of a file that is kept on disk. unsupported, with what to do, if it is newer
// than `newest`; the caller adds the name of the file and does not change it.
Status check_version(int64_t version, int64_t newest);

}  // namespace ibpod
