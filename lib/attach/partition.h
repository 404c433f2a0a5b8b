// An attachment's partition, as its port itself shows it.
#pragma once

#include "lib/attach/context.h"
#include "lib/ib/pkey.h"
#include "lib/node/record.h"

namespace ibpod::attach {

// Where a port's table holds the partition.
struct TableEntry {
  size_t index = 0;
  ib::PKey key;
};

// How far an attachment is in the partitions that were asked for.
struct ReadyResult {
  // Of the first one, as the port itself shows it; none where no partition was asked for, or the
  // port cannot be looked at from here.
  std::optional<TableEntry> entry;
  std::vector<ib::PKey> unverified;  // those not seen in the port's table
};

// Where in the table it has to stand.
enum class IndexRequirement {
  any_index,
  index_0,  // and the IPoIB interface has taken it up: it uses index 0 and no other
};
inline IndexRequirement index_requirement_for(bool addresses) {
  return addresses ? IndexRequirement::index_0 : IndexRequirement::any_index;
}

// Waits until the attachment's port is ACTIVE and its P_Key table holds the key: as full member
// where its bit 15 asks for that. unavailable at the deadline, with port state, GUID and table in
// the details. Other keys in a VF's table are warned of; a port that many pods share has many.
Result<TableEntry> await_partition(const Context& context, const node::Record& record, ib::PKey key,
                                   IndexRequirement requirement, Deadline deadline);

// For CHECK: that the key is there now.
Status check_partition(const Context& context, const node::Record& record, ib::PKey key,
                       IndexRequirement requirement);
// The same of all that the record asks for, by P_Key or by name.
Status check_partitions(const Context& context, const node::Record& record,
                        IndexRequirement requirement);

// Waits for all that is wanted, by P_Key or by name, as await_partition() does for one, and logs
// each. Returns the entry of the first one, to which `requirement` applies; nothing if none is
// wanted.
Result<std::optional<TableEntry>> await_partitions(const Context& context,
                                                   const node::Record& record,
                                                   IndexRequirement requirement, Deadline deadline);

// Says it in the log.
void log_verified(const Context& context, ib::PKey asked, const TableEntry& membership);

// Where the attachment's RDMA devices are: in the pod under isolation, else in the host's
// namespace.
const node::Namespace& home_of_rdma(const node::Record& record);

}  // namespace ibpod::attach
