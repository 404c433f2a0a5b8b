// Records: the attachments of this node, a file each:
// STATE/attachments/<folder>/<container>:<interface>.json. The folder names what was attached even
// when the file in it is damaged, and is its lock: a VF by its PCI address, which one pod has at a
// time; an IPoIB child by its link's name (child.h), so children of one master do not block others.
#pragma once

#include "lib/base/lock.h"
#include "lib/base/tree_watch.h"
#include "lib/node/address_releases.h"
#include "lib/node/record.h"

#include <string>
#include <vector>

namespace ibpod::node {

// Which record: ':' is illegal in both, so the file's name says it without doubt.
struct RecordName {
  std::string folder;
  std::string container_id;
  std::string ifname;
  auto operator<=>(const RecordName&) const = default;
  std::string text() const { return folder + "/" + container_id + ":" + ifname; }
};
RecordName name_of(const Record& record);

class Records {
 public:
  explicit Records(const Path& state) : root_(state / "attachments"), address_releases_(state) {}

  // A folder's lock, between all processes of the node. unavailable at the deadline.
  Result<FolderLock> lock(const std::string& folder, Deadline deadline) const;
  // Tells when a record comes into the folder or goes. Open it under the lock, wait without.
  Result<FolderWatch> watch(const std::string& folder) const;
  // Tells when any record comes or goes, whatever its folder. Makes the records' own folder.
  Result<TreeWatch> watch_all() const;

  // On disk, flushed, when this returns.
  Status write(const Record& record) const;
  Status remove(const RecordName& name) const;
  // not_found where there is none; invalid or unsupported where it cannot be read: it is damaged.
  // denied if another user than root may have written it: it is not obeyed, and stays.
  Result<Record> read(const RecordName& name) const;

  // Whether the folder of all records is there. It is made by the first record, or by watch_all()
  // and make_folder().
  bool has_folder() const { return path_exists(root_); }
  Status make_folder() const { return make_folders(root_); }
  const Path& folder() const { return root_; }

  // Whatever stands in the folders, readable or not.
  Result<std::vector<RecordName>> in_folder(const std::string& folder) const;
  Result<std::vector<RecordName>> of_attachment(const std::string& container_id,
                                                const std::string& ifname) const;
  Result<std::vector<RecordName>> all() const;

  // What IPAM has still to take back of attachments that have ended.
  const AddressReleases& address_releases() const { return address_releases_; }

  // Removes the files that killed writers have left in a folder without any record, or in all such
  // folders, and the folder with them. A locked folder stays, for the process that holds the lock.
  Status tidy(const std::string& folder) const;
  Status tidy() const;

  // Whether records can be kept at all: made and flushed like a real one, and taken away again.
  Status check_writable() const;

  // Where the record is, if there is one.
  Path file(const RecordName& name) const;

 private:
  Path root_;
  AddressReleases address_releases_;
};

}  // namespace ibpod::node
