#include "ctl/convert/secret_files.h"

#include "lib/base/fd.h"
#include "lib/base/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace ibpod::ctl::convert {
namespace {

Status write_all(const Fd& fd, std::string_view content, const std::string& what) {
  while (!content.empty()) {
    const ssize_t written = TRY(
        sys("write " + what, [&] { return ::write(fd.get(), content.data(), content.size()); }));
    content.remove_prefix(static_cast<size_t>(written));
  }
  TRY(sys("fsync " + what, [&] { return ::fsync(fd.get()); }));
  return ok();
}

// `umask` could take more away than other users' access.
Result<Fd> create(const Path& path) {
  Fd fd(TRY(sys("create " + path.string(), [&] {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  })));
  TRY(sys("chmod " + path.string(), [&] { return ::fchmod(fd.get(), 0600); }));
  return fd;
}

Status check_absent(const Path& folder, const std::vector<SecretFile>& files) {
  for (const SecretFile& file : files)
    if (path_exists(folder / file.name))
      return Error(Code::exists, (folder / file.name).string() +
                                     " exists and is not overwritten: remove it, or choose "
                                     "another folder");
  return ok();
}

// Removes what it has created, unless it is kept.
class Created {
 public:
  Created() = default;
  Created(const Created&) = delete;
  Created& operator=(const Created&) = delete;
  Created(Created&&) = delete;
  Created& operator=(Created&&) = delete;
  ~Created() {
    for (auto path = paths_.rbegin(); path != paths_.rend(); ++path) ::remove(path->c_str());
  }
  Status add_folder(const Path& folder) {
    if (folder.empty() || path_exists(folder)) return ok();
    TRY(add_folder(folder.parent_path()));
    TRY(make_folders(folder));
    paths_.push_back(folder);
    return ok();
  }
  Status add_file(const Path& path, const std::string& content) {
    const Fd fd = TRY(create(path));
    paths_.push_back(path);
    return write_all(fd, content, path.string());
  }
  void keep() { paths_.clear(); }

 private:
  std::vector<Path> paths_;
};

}  // namespace

Status write_secrets(const Path& folder, const std::vector<SecretFile>& files) {
  TRY(check_absent(folder, files));
  Created created;
  TRY(created.add_folder(folder));
  TRY(check_trusted_folder(folder));
  for (const SecretFile& file : files) TRY(created.add_file(folder / file.name, file.content));
  created.keep();
  return ok();
}

}  // namespace ibpod::ctl::convert
