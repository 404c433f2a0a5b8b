// Files that hold secrets, or say what is done: who else could read, write or replace them.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/files.h"
#include "lib/base/result.h"

#include <string>

namespace ibpod {

// ok when the file that `path` leads to is a regular file of root's or of our own user, which no
// others can read or write, and when no others can rename what is in a folder or behind a link on
// the way to it. The links on it are root's or our own user's, too. A group may read the file, and
// write to a folder, if this process is in it: the fsGroup of a pod. A folder with the sticky bit
// is safe, as /tmp and a Secret's mount have it. Else denied, with the file, its mode, and the
// command that mends it; not_found when it is missing.
Status check_private(const Path& path);

// The content, at most `limit` bytes, of a file that check_private() has nothing against: what is
// read is what was checked. Never waits: a FIFO is refused.
Result<std::string> read_private_file(const Path& path, size_t limit);

// The same for a file that others may read, and not write: what it says is obeyed.
Result<std::string> read_trusted_file(const Path& path, size_t limit = 4 << 20);

// denied when others could make an entry of the folder, or replace one, or the folder itself. ok
// when it does not exist yet.
Status check_trusted_folder(const Path& folder);

// Opened to be appended to; made with mode 0600 if it is missing. denied if it is a link, no
// regular file, or others could write or replace it. The folder that it is in is root's or our own
// user's and written by no group; above it groups may write, as syslog may to Ubuntu's /var/log:
// what they put in the folder's place is refused. Never waits.
Result<Fd> open_trusted_log(const Path& path);

}  // namespace ibpod
