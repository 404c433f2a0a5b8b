// PartitionDefinition: which ports may talk to each other, as OpenSM is to enforce it. Values
// without I/O; how they stand in a file is in partitions_conf.h.
#pragma once

#include "lib/base/result.h"
#include "lib/fabric/group_flags.h"
#include "lib/fabric/membership.h"
#include "lib/fabric/port_specifier.h"
#include "lib/ib/partition_name.h"
#include "lib/ib/pkey.h"

#include <array>
#include <string>
#include <vector>

namespace ibpod::fabric {

struct Member {
  PortSpecifier port;
  Membership membership = Membership::limited;
  // The key takes another place of its table, though the partition asks for index 0 (index0,
  // below): a PF's own interface goes by index 0, and is not to follow the children that pods have
  // on it.
  bool skip_index0 = false;
  bool operator==(const Member&) const = default;
};

// A group that exists before a port joins it (osm_prtn_config.c, mgroup_create). The SA may still
// refuse it, with a line in its log; no P_Key table depends on it.
struct MulticastGroup {
  std::array<uint8_t, 16> mgid{};  // wire order; OpenSM puts the scope of `flags` into it
  GroupFlags flags;
  bool operator==(const MulticastGroup&) const = default;
};

struct PartitionDefinition {
  // For people and OpenSM's log; at most kMostName bytes, which is what OpenSM keeps. The P_Key
  // says which partition it is.
  std::string name;
  ib::PKey pkey;  // bit 15 clear: membership is each member's own. 0x0001 to 0x7fff
  // The key takes index 0 of its members' tables, but for those that keep theirs, in place of the
  // default's; of `both` the limited one does. Of the default partition: it comes back to index 0
  // when no other asks for it, which with OpenSM's option allow_both_pkeys a limited one does not
  // do by itself; but not in the tables of ports that are in it without being named.
  bool index0 = false;
  bool ipoib = false;  // OpenSM makes the IPoIB broadcast group: `group`, but link-local always
  // The sl is the partition's own, too: that of its PathRecords, at the next sweep. The groups are
  // made once: they keep what they were made with, or stay though ipoib is false now, until the
  // partition has been without members for a sweep (osm_prtn_add_mcgroup, osm_prtn_delete).
  GroupFlags group = {};
  // For members that name none of their own. Those in `members` have theirs.
  Membership default_membership = Membership::limited;
  // In OpenSM's order: where two entries speak of one port, the later one decides. Those that keep
  // their index 0 come last: in partitions.conf they have a definition of their own. Where there is
  // one, all are GUIDs: an entry of either kind would decide for the ports of a group.
  std::vector<Member> members = {};
  std::vector<MulticastGroup> groups = {};
  bool operator==(const PartitionDefinition&) const = default;
};

inline constexpr size_t kMostName = ib::kMostPartitionName;
inline constexpr ib::PKey kDefaultPKey{0x7fff};
inline constexpr std::string_view kDefaultName = "Default";

// The default partition unless another is configured: all ports are limited, so ports without a
// common partition cannot talk; only the subnet manager is full, so that all reach it.
PartitionDefinition default_definition();

// ok() if OpenSM can be given the definition: the name is valid (ib/partition_name.h), the P_Key
// has bit 15 clear and is no free place, ports can have the GUIDs, and numbers are in their ranges.
// Members that keep their own index 0 come last, and only if the partition asks for index 0. In the
// default partition the subnet manager's own port is a full member: only a full member reaches the
// limited ones. Partitions are not checked against each other.
Status check(const PartitionDefinition& definition);
// The same, but the error names only the field: for a partition that may have no P_Key yet.
Status check_fields(const PartitionDefinition& definition);

}  // namespace ibpod::fabric
