// Records: the attachments of this node in STATE/attachments/<folder>/<container>:<interface>.json.
// The folder, which is also the lock, is the PCI address of a VF or the link of an IPoIB child
// (child.h): children of one master do not block each other.
#pragma once

#include "lib/base/lock.h"
#include "lib/base/tree_watch.h"
#include "lib/node/address_releases.h"
#include "lib/node/record.h"

#include <string>
#include <vector>

namespace ibpod::node {

// A record's name. Its parts cannot have a ':', so the file's name is unambiguous.
struct RecordName {
  std::string folder;
  std::string container_id;
  std::string ifname;
  auto operator<=>(const RecordName&) const = default;
  std::string text() const { return folder + "/" + container_id + ":" + ifname; }
};
RecordName name_of(const Record& record);

// A folder of records that is locked, and the records in it, readable or not.
struct LockedFolder {
  FolderLock lock;
  std::vector<RecordName> names;
};

class Records {
 public:
  explicit Records(const Path& state) : root_(state / "attachments"), address_releases_(state) {}

  // Locks a folder against all processes of the node. unavailable at the deadline.
  Result<FolderLock> lock(const std::string& folder, Deadline deadline) const;
  // The same, with one look at the folder.
  Result<LockedFolder> lock_and_list(const std::string& folder, Deadline deadline) const;
  // Reports records added to the folder or removed from it. Open it under the lock, wait without
  // it.
  Result<FolderWatch> watch(const std::string& folder) const;
  // Reports records added or removed in any folder. Makes the folder of all records.
  Result<TreeWatch> watch_all() const;

  // Durable when this returns.
  Status write(const Record& record) const;
  Status remove(const RecordName& name) const;
  // not_found if there is none; invalid or unsupported if it cannot be read; denied if other users
  // than root can write it: it is not obeyed, and stays.
  Result<Record> read(const RecordName& name) const;

  // True if the folder of all records exists. The first record, watch_all() or make_folder() makes
  // it.
  bool has_folder() const { return path_exists(root_); }
  Status make_folder() const { return make_folders(root_); }
  const Path& folder() const { return root_; }

  // The names of all records in the folder, readable or not.
  Result<std::vector<RecordName>> in_folder(const std::string& folder) const;
  Result<std::vector<RecordName>> of_attachment(const std::string& container_id,
                                                const std::string& ifname) const;
  Result<std::vector<RecordName>> all() const;

  // The addresses still owed to IPAM by attachments that have ended.
  const AddressReleases& address_releases() const { return address_releases_; }

  // Removes the temporary files of killed writers, and the folder, if it has no record; without an
  // argument in all folders. A locked folder stays, for the process that holds the lock.
  Status tidy(const std::string& folder) const;
  Status tidy() const;

  // ok if records can be written: writes a test file and removes it again.
  Status check_writable() const;

  // The path of the record's file, which may not exist.
  Path file(const RecordName& name) const;

 private:
  Path root_;
  AddressReleases address_releases_;
};

}  // namespace ibpod::node
