// AddressReleases: the addresses that IPAM has still to take back after their attachments have
// ended, a file each: STATE/addresses/<container>:<interface>/<attempt>.json. A file is a copy of
// the attachment's record and names no device: whatever IPAM does, the device is the next pod's.
#pragma once

#include "lib/base/lock.h"
#include "lib/node/record.h"

#include <string>
#include <utility>
#include <vector>

namespace ibpod::node {

struct AddressReleaseName {
  std::string container_id;
  std::string ifname;
  std::string attempt;  // Record::attempt
  auto operator<=>(const AddressReleaseName&) const = default;
  std::string text() const { return container_id + ":" + ifname + "/" + attempt; }
};

class AddressReleases {
 public:
  explicit AddressReleases(const Path& state) : root_(state / "addresses") {}

  // IPAM is asked by one process at a time for all addresses of a container and interface.
  // unavailable at the deadline.
  Result<FolderLock> lock(const std::string& container_id, const std::string& ifname,
                          Deadline deadline) const;

  // On disk, flushed, when this returns; with or without the lock. invalid if the record's attempt
  // is not a file name. On a full disk it becomes another name of `own`, the record's own file.
  Status write(const Record& record, const Path& own = {}) const;
  Status remove(const AddressReleaseName& name) const;
  // As Records::read().
  Result<Record> read(const AddressReleaseName& name) const;

  // All names in the folders, readable or not; sorted.
  Result<std::vector<AddressReleaseName>> of_attachment(const std::string& container_id,
                                                        const std::string& ifname) const;
  Result<std::vector<AddressReleaseName>> all() const;

  // As Records::tidy().
  Status tidy(const std::string& container_id, const std::string& ifname) const;
  Status tidy() const;

 private:
  using Attachment = std::pair<std::string, std::string>;  // container, interface
  Result<std::vector<Attachment>> attachments() const;
  Path folder(const std::string& container_id, const std::string& ifname) const;
  Path file(const AddressReleaseName& name) const;
  Path root_;
};

}  // namespace ibpod::node
