// The members of one partition of partitions.conf, as entry after entry names them.
#pragma once

#include "lib/base/result.h"
#include "lib/fabric/partition_definition.h"
#include "lib/fabric/partitions_conf.h"
#include "lib/fabric/partitions_conf_syntax.h"

#include <map>
#include <vector>

namespace ibpod::fabric {

class MemberReader {
 public:
  // For the entries of a definition: the membership of those that name none, and whether they keep
  // their index 0.
  struct EntryDefaults {
    Membership membership;
    bool skip_index0;
  };
  Status take(const Entry& entry, EntryDefaults otherwise, const OpenSmOptions& options);
  const std::vector<Member>& members() const { return members_; }

 private:
  std::string likely_meant(const Entry& entry) const;
  Status check_overrides(const Member& member, SourcePosition position) const;

  std::vector<Member> members_;
  std::map<PortSpecifier, SourcePosition> positions_;
  // Where a membership was first given to any port, and to a single one.
  std::map<Membership, SourcePosition> given_, given_to_one_;
};

// Refuses `both` where OpenSM would make it full.
Status check_usable(Membership membership, SourcePosition position, const OpenSmOptions& options);

}  // namespace ibpod::fabric
