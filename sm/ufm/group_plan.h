// The calls that make UFM's groups of GUIDs as they are desired: one group for each PF, with the
// GUIDs of its VFs. Values without I/O.
//
// NVIDIA's OpenSM looks up one group for a physical GUID, and one for a virtual GUID. So a PF gets
// one group, and a GUID leaves its old PF before it comes to another. UFM's manual has no call that
// changes a group: a new one is made, and the old one removed when UFM shows both.
#pragma once

#include "sm/ufm/ufm_api.h"
#include "sm/ufm/written_groups.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace ibpod::sm::ufm {

// The VFs that are to be behind each PF.
using VfsByPf = std::map<ib::Guid, std::set<ib::Guid>>;

// The groups as UFM has shown them, and the owner of each.
class ShownGroups {
 public:
  ShownGroups() = default;
  ShownGroups(std::vector<GuidGroup> groups, const WrittenGroups::All& written);

  // By ID.
  const std::vector<GuidGroup>& all() const { return groups_; }
  // Those of `pf` that ibpod-sm has made.
  std::vector<const GuidGroup*> ours(ib::Guid pf) const;
  // A group that others have made or changed, and that names `pf` or one of its `vfs`; nullptr:
  // none.
  const GuidGroup* foreign(ib::Guid pf, const std::set<ib::Guid>& vfs) const;
  // True if a group of ours has this VF behind another PF.
  bool is_elsewhere(ib::Guid vf, ib::Guid pf) const;
  // True if a group of ours has this VF behind this PF, and its virtual ports may have LIDs.
  bool is_behind(ib::Guid vf, ib::Guid pf) const;

 private:
  std::vector<GuidGroup> groups_;
  std::map<ib::Guid, std::vector<size_t>> ours_;      // by PF; places in groups_
  std::map<ib::Guid, size_t> foreign_;                // by each GUID that it has
  std::map<ib::Guid, std::set<ib::Guid>> pfs_of_vf_;  // of ours
};

// The changes of a PF since UFM was read.
struct PortProgress {
  bool made = false;                // a group
  std::set<uint64_t> removed = {};  // IDs
  bool remove_first = false;        // UFM takes no port into a second group
};

struct GroupStep {
  enum class Kind { add, remove };
  Kind kind = Kind::add;
  ib::Guid pf;
  std::set<ib::Guid> vfs = {};  // of an addition: 1 to kMostVfs
  uint64_t id = 0;              // of a removal
  bool operator==(const GroupStep&) const = default;
};

// The next call for this PF; nothing: there is none until UFM has been read again, or at all.
std::optional<GroupStep> plan_groups(ib::Guid pf, const std::set<ib::Guid>& desired,
                                     const ShownGroups& shown, const PortProgress& progress);

}  // namespace ibpod::sm::ufm
