// The parts of a definition of partitions.conf: its head, its multicast groups and its members.
#pragma once

#include "lib/base/result.h"
#include "lib/fabric/partition_definition.h"
#include "lib/fabric/partitions_conf.h"
#include "lib/fabric/partitions_conf_lexer.h"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace ibpod::fabric {

// The head of a definition, before its ':': name, P_Key and flags. The result has no members and no
// groups.
Result<PartitionDefinition> read_head(const DefinitionTokens& tokens, const OpenSmOptions& options);

// A multicast group: mgid=GID,FLAG=VALUE ... to the end of its line. `entries` start with mgid=GID
// and end with the line. The group has the partition's flags, all but TClass, unless its own say
// otherwise; IP groups have its P_Key, mtu and rate.
Result<MulticastGroup> read_group(std::span<const Entry> entries,
                                  const PartitionDefinition& definition);

// The group that a partition for IPoIB has (RFC 4391, section 4).
std::array<uint8_t, 16> broadcast_group(ib::PKey pkey);

// The members of one partition, entry by entry.
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
  // The positions at which a membership was first given to any port, and to a single one.
  std::map<Membership, SourcePosition> given_, given_to_one_;
};

}  // namespace ibpod::fabric
