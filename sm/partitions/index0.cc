#include "sm/partitions/index0.h"

#include "lib/fabric/partition_definition.h"

#include <set>

namespace ibpod::sm::partitions {
namespace {

using state::BindingRecord;
using state::Memberships;
using state::PartitionRecord;
using state::Records;

bool uses_index0(const Records& records, const std::string& name) {
  const PartitionRecord* const record = records.find_partition(name);
  return record != nullptr && record->partition.index0;
}

// The memberships that the binding has or will have.
const Memberships& present_memberships(const BindingRecord& entry) {
  static const Memberships kNone;
  return entry.binding.state == fabric::BindingState::releasing ? kNone : entry.binding.desired;
}

void add_index0(const Records& records, const Memberships& memberships,
                std::set<std::string>& names) {
  for (const fabric::PartitionMembership& requested : memberships)
    if (uses_index0(records, requested.partition)) names.insert(requested.partition);
}

// The partitions that have, or will have, index 0 of the port's table: at most one.
std::set<std::string> index0_of(const Records& records, ib::Guid guid,
                                const BindingRecord* except) {
  std::set<std::string> names;
  const state::PortRecord* const port = records.find_port(guid);
  if (port == nullptr) return names;
  for (const auto& [record, membership] : port->members)
    if (record->partition.index0) names.insert(record->partition.name);
  for (const BindingRecord* const entry : port->bindings)
    if (entry != except && !state::is_child(entry->binding))
      add_index0(records, present_memberships(*entry), names);
  return names;
}

}  // namespace

Status check_index0_is_free(const Records& records, ib::Guid guid, const std::string& partition) {
  for (const std::string& other : index0_of(records, guid, nullptr))
    if (other != partition)
      return Error(
          Code::busy,
          "partition " + other + " already has index 0 of the P_Key table of port " + guid.text());
  return ok();
}

Status check_index0_of_bindings(const Records& records, const PartitionRecord& record) {
  for (const BindingRecord* const entry : record.bindings)
    if (!state::is_child(entry->binding))
      TRY(check_index0_is_free(records, entry->binding.guid, record.partition.name));
  return ok();
}

Status check_index0_of_others(const Records& records, const fabricapi::BindRequest& request,
                              const Index0Facts& facts) {
  if (request.kind == fabric::Kind::child) return ok();
  for (const fabricapi::BindRequest::PartitionRequest& wish : request.partitions) {
    if (!uses_index0(records, wish.partition)) continue;
    if (facts.is_sm_port)
      return Error(Code::invalid,
                   "partition " + wish.partition +
                       " needs index 0 of the subnet manager's own port, where the default P_Key "
                       "has to stay");
    if (facts.key && !facts.key->same_partition(fabric::kDefaultPKey))
      return Error(Code::busy, "partition " + wish.partition + " needs index 0 of port " +
                                   request.guid.text() + ", which the administrator's partition " +
                                   facts.key->text() + " already has");
  }
  return ok();
}

Status check_index0(const Records& records, const fabricapi::BindRequest& request,
                    const Memberships& memberships, const BindingRecord* except) {
  if (request.kind == fabric::Kind::child) return ok();
  std::set<std::string> names;
  add_index0(records, memberships, names);
  if (names.size() > 1)
    return Error(Code::invalid, "partitions " + *names.begin() + " and " + *names.rbegin() +
                                    " both need index 0 of the port's P_Key table; request only "
                                    "one of them");
  names.merge(index0_of(records, request.guid, except));
  if (names.size() < 2) return ok();
  return Error(Code::busy, "port " + request.guid.text() +
                               ": more than one of its partitions needs index 0 of its P_Key "
                               "table; request a partition without index0");
}

}  // namespace ibpod::sm::partitions
