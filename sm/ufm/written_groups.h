// WrittenGroups: the record, on disk, of the groups of GUIDs that ibpod-sm has made in UFM. Only
// these are ever removed. What a call adds is in the record before the call; what it removes stays
// there for a while: a UFM that loses its last writes in a failover shows it again.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/ib/guid.h"

#include <cstdint>
#include <map>
#include <set>

namespace ibpod::sm::ufm {

// The groups of one PF's port. A group is ours if it has this port alone, no virtual GUID but
// `vfs`, and one of the `ids`, or any ID while `making`.
struct WrittenPort {
  std::set<ib::Guid> vfs = {};  // that ibpod-sm has put behind it, or is about to
  std::set<uint64_t> ids = {};  // of the groups
  bool making = false;          // a group may have been made whose ID is not known
  bool operator==(const WrittenPort&) const = default;
  bool empty() const { return vfs.empty() && ids.empty() && !making; }
};

class WrittenGroups {
 public:
  // By PF.
  using All = std::map<ib::Guid, WrittenPort>;

  // Reads the record: a file for each PF. Makes the folder if it is missing. invalid for a damaged
  // file, unsupported for one of a newer version, with the file and what to do.
  static Result<WrittenGroups> open(Path folder);

  const All& all() const { return all_; }
  // An empty one if there is no record.
  WrittenPort of(ib::Guid pf) const;
  // On disk, flushed, when this returns; without contents the file is removed. After an error the
  // record is as before. Nothing is done if it has not changed.
  Status write(ib::Guid pf, WrittenPort port);

 private:
  explicit WrittenGroups(Path folder) : folder_(std::move(folder)) {}
  Path folder_;
  All all_;
};

}  // namespace ibpod::sm::ufm
