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
  // A mounted sysfs ("/sys"), or a folder in the form of one.
  static Result<Sysfs> open(const Path& root);
  // A new sysfs mount that shows the netdevs and RDMA devices of the namespace `netns`; the host's
  // mount never shows them (docs/kernel-notes.md#sysfs-shows-the-namespace-of-the-mount).
  // Read-only, without a mount point (fsopen, fsmount: kernel 5.2 or later), gone with this object.
  static Result<Sysfs> of_netns(const Fd& netns);
  // The same of the calling thread's namespace.
  static Result<Sysfs> of_own_netns();

  // A Sysfs of one folder, which stays the same folder if it is renamed; not_found if it does not
  // exist.
  Result<Sysfs> below(const Path& folder) const;

  // Paths are relative to the root, such as "bus/pci/devices/0000:01:00.1/driver". The content
  // without the newline at its end; not_found if the file does not exist.
  Result<std::string> read(const Path& file) const;
  // unsupported for the read-only sysfs of a namespace.
  Status write(const Path& file, std::string_view content) const;
  bool exists(const Path& path) const;
  // The names in a folder, sorted; empty if the folder does not exist.
  Result<std::vector<std::string>> list(const Path& folder) const;
  // A symbolic link's target, unresolved; nothing if the link does not exist.
  Result<std::optional<Path>> link_target(const Path& link) const;
  // The last component of a symbolic link's target; nothing if the link does not exist.
  Result<std::optional<std::string>> link_name(const Path& link) const;

 private:
  explicit Sysfs(Fd root) : root_(std::move(root)) {}
  Fd root_;
};

}  // namespace ibpod::sysfs
