// An attachment's partition, as read from its port.
#pragma once

#include "lib/attach/context.h"
#include "lib/ib/pkey.h"
#include "lib/node/record.h"

namespace ibpod::attach {

// A P_Key and its index in the port's table.
struct TableEntry {
  size_t index = 0;
  ib::PKey key;
};

// The partitions of an attachment that is ready.
struct ReadyResult {
  // The first partition's entry in the port's table; none if no partition was requested, or if this
  // node cannot read the port.
  std::optional<TableEntry> entry;
  std::vector<ib::PKey> unverified;  // keys not read in the port's table
};

// The required place in the table.
enum class IndexRequirement {
  any_index,
  index_0,  // and the IPoIB interface uses the key: it takes index 0 and no other
};
inline IndexRequirement index_requirement_for(bool addresses) {
  return addresses ? IndexRequirement::index_0 : IndexRequirement::any_index;
}

// Waits until the port is ACTIVE and its P_Key table has the key, as a full member if bit 15 is
// set. unavailable at the deadline, with port state, GUID and table in the details. Warns of other
// keys in a VF's table; a port that many pods share has many.
Result<TableEntry> await_partition(const Context& context, const node::Record& record, ib::PKey key,
                                   IndexRequirement requirement, Deadline deadline);

// For CHECK: ok if the key is in the table now.
Status check_partition(const Context& context, const node::Record& record, ib::PKey key,
                       IndexRequirement requirement);
// check_partition() for all partitions of the record, by P_Key or by name.
Status check_partitions(const Context& context, const node::Record& record,
                        IndexRequirement requirement);

// Waits as await_partition() does for all partitions of the record, by P_Key or by name, and logs
// each. Returns the entry of the first one, to which `requirement` applies; nothing if there are
// none.
Result<std::optional<TableEntry>> await_partitions(const Context& context,
                                                   const node::Record& record,
                                                   IndexRequirement requirement, Deadline deadline);

// Logs the verified partition.
void log_verified(const Context& context, ib::PKey asked, const TableEntry& membership);

// The namespace of the attachment's RDMA devices: the pod's under isolation, else the host's.
const node::Namespace& home_of_rdma(const node::Record& record);

}  // namespace ibpod::attach
