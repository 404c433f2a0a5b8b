#include "agent/prepare/vf_locks.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ibpod::agent::prepare {

// A record of another boot does not count: its namespace and its device's settings ended with that
// boot, and its release finds nothing to put back (lib/node/restore.h). A record that cannot be
// read may be of any boot.
Result<bool> VfLocks::acquire(const ib::PciAddress& vf) {
  if (!locks_.contains(vf)) {
    FolderLock lock = TRY(deps_.records.lock(vf.text(), deadline_));
    locks_.emplace(vf, std::move(lock));
  }
  const std::vector<node::RecordName> names = TRY(deps_.records.in_folder(vf.text()));
  return std::none_of(names.begin(), names.end(), [&](const node::RecordName& name) {
    const Result<node::Record> record = deps_.records.read(name);
    if (!record) return record.error().code() != Code::not_found;
    return record->boot_id == deps_.boot_id;
  });
}

}  // namespace ibpod::agent::prepare
