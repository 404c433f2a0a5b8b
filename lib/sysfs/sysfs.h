// Sysfs: the kernel's device tree as files, as one network namespace sees it.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/files.h"
#include "lib/base/result.h"

#include <optional>
#include <string>
#include <vector>

namespace ibpod::sysfs {

class Sysfs {
 public:
  // A sysfs that is mounted already ("/sys"), or a folder that looks like one.
  static Result<Sysfs> open(const Path& root);
  // A fresh sysfs that shows what the namespace behind `netns` sees: its netdevs and RDMA devices
  // and nobody else's. The host's mount does not show them, whoever reads it
  // (docs/kernel-notes.md#sysfs-shows-the-namespace-of-the-mount). Read-only, mounted nowhere
  // (fsopen, fsmount: kernel 5.2 or later), gone with this object.
  static Result<Sysfs> of_netns(const Fd& netns);

  // Of a folder in it alone, which stays the same one whatever its name becomes; not_found where
  // there is no such folder.
  Result<Sysfs> below(const Path& folder) const;

  // All paths are relative to the root, such as "bus/pci/devices/0000:01:00.1/driver".
  // The content without the newline at its end; not_found where there is no such file.
  Result<std::string> read(const Path& file) const;
  // unsupported when this is a namespace's read-only view.
  Status write(const Path& file, std::string_view content) const;
  bool exists(const Path& path) const;
  // The names in a folder, sorted; none where there is no such folder.
  Result<std::vector<std::string>> list(const Path& folder) const;
  // A symbolic link's target as it stands there; nothing where there is no such link.
  Result<std::optional<Path>> link_target(const Path& link) const;
  // The last component of a symbolic link's target; nothing where there is no such link.
  Result<std::optional<std::string>> link_name(const Path& link) const;

 private:
  explicit Sysfs(Fd root) : root_(std::move(root)) {}
  Fd root_;
};

}  // namespace ibpod::sysfs
