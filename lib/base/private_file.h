// Files that hold secrets or control what a program does: checks of who can read, write or replace
// them.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/files.h"
#include "lib/base/result.h"

#include <string>

namespace ibpod {

// ok if `path` leads to a regular file of root or of this user that no other user can read or
// write, and no other user can replace an entry of a folder, or a link, on the way. A group of this
// process may read the file and write to a folder (the fsGroup of a pod). Folders with the sticky
// bit are safe (/tmp, the mount of a Secret). Else denied, with the file, its mode, and the command
// that fixes it; not_found if it is missing.
Status check_private(const Path& path);

// The content, at most `limit` bytes, of a file that passes check_private(). The file that is read
// is the one that was checked. Never blocks: a FIFO is refused.
Result<std::string> read_private_file(const Path& path, size_t limit);

// The same for a file that other users may read but not write.
Result<std::string> read_trusted_file(const Path& path, size_t limit = 4 << 20);

// denied if other users can create or replace an entry of the folder, or the folder itself. ok if
// it does not exist yet.
Status check_trusted_folder(const Path& folder);

// Opens a file for appending; creates it with mode 0600. denied if it is a link or not a regular
// file, or if other users can write or replace it. The folder must belong to root or this user and
// be writable by no group; groups may write to folders above it (syslog on Ubuntu's /var/log), and
// a folder that was replaced there is refused. Never blocks.
Result<Fd> open_trusted_log(const Path& path);

}  // namespace ibpod
