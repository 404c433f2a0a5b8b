// Records: the attachments of this node, a folder a device, a file an attachment:
// STATE/attachments/<PCI address>/<container>:<interface>.json. The folder names the device even
// when the file in it is damaged, and is the device's lock.
#pragma once

#include "lib/base/lock.h"
#include "lib/node/record.h"

#include <string>
#include <vector>

namespace ibpod::node {

// Which record: ':' is illegal in both, so the file's name says it without doubt.
struct RecordName {
  ib::PciAddress device;
  std::string container_id;
  std::string ifname;
  auto operator<=>(const RecordName&) const = default;
  std::string text() const { return device.text() + "/" + container_id + ":" + ifname; }
};
RecordName name_of(const Record& record);

class Records {
 public:
  explicit Records(const Path& state) : root_(state / "attachments") {}

  // The lock of a device, between all processes of the node. unavailable at the deadline.
  Result<FolderLock> lock(const ib::PciAddress& device, Deadline deadline) const;
  // Tells when a record of the device comes or goes. Open it under the lock, wait without.
  Result<FolderWatch> watch(const ib::PciAddress& device) const;

  // On disk, flushed, when this returns.
  Status write(const Record& record) const;
  Status remove(const RecordName& name) const;
  // not_found where there is none; invalid or unsupported where it cannot be read: it is damaged.
  Result<Record> read(const RecordName& name) const;

  // Whatever stands in the folders, readable or not.
  Result<std::vector<RecordName>> of_device(const ib::PciAddress& device) const;
  Result<std::vector<RecordName>> of_attachment(const std::string& container_id,
                                                const std::string& ifname) const;
  Result<std::vector<RecordName>> all() const;

  // Takes away what killed writers have left in folders without any record.
  Status tidy(Deadline deadline) const;

  // Whether records can be kept at all: made and flushed like a real one, and taken away again.
  Status check_writable() const;

 private:
  Path folder(const ib::PciAddress& device) const { return root_ / device.text(); }
  Path file(const RecordName& name) const;
  Path root_;
};

}  // namespace ibpod::node
