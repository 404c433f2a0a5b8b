// WrittenMembers: the record, on disk, of the members that ibpod-sm has put into UFM. Only these
// are ever removed. A member is in the record before the call that adds it, so an entry alone does
// not make the P_Key ours: another user may have made it before our call. A member stays in the
// record for a while after it has left: a UFM that loses its last writes in a failover shows it
// again.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"
#include "sm/ufm/desired.h"

#include <map>

namespace ibpod::sm::ufm {

struct WrittenMember {
  MemberValues values;   // the last ones that UFM was given, or is about to be given
  bool leaving = false;  // removed, or about to be
  // No reading has shown it yet in a P_Key that is ours, or that has no members of others.
  bool intended = false;
  bool operator==(const WrittenMember&) const = default;
};
using WrittenPartition = std::map<ib::Guid, WrittenMember>;

// The member; nullptr if the partition is nullptr or does not have it.
const WrittenMember* find_member(const WrittenPartition* partition, ib::Guid guid);

class WrittenMembers {
 public:
  // Reads the record: a file for each P_Key. Makes the folder if it is missing. invalid for a
  // damaged file, unsupported for one of a newer version, with the file and what to do.
  static Result<WrittenMembers> open(Path folder);

  const std::map<ib::PKey, WrittenPartition>& all() const { return all_; }
  // nullptr if there is no record.
  const WrittenPartition* find(ib::PKey pkey) const;
  // On disk, flushed, when this returns; without members the file is removed. After an error the
  // record is as before.
  Status write(ib::PKey pkey, WrittenPartition partition);

 private:
  explicit WrittenMembers(Path folder) : folder_(std::move(folder)) {}
  Path folder_;
  std::map<ib::PKey, WrittenPartition> all_;
};

}  // namespace ibpod::sm::ufm
