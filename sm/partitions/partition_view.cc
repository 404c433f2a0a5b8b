#include "sm/partitions/partition_view.h"

#include "lib/base/join.h"
#include "sm/partitions/rendering.h"
#include "sm/state/names.h"

#include <algorithm>

namespace ibpod::sm::partitions {
namespace {

using fabric::PartitionState;
using fabric::PartitionStatus;
using fabric::Reason;
using fabric::StaticMember;
using state::PartitionRecord;
using state::PortRecord;
using state::Records;

constexpr size_t kMostListed = 5;  // most ports named in a text

fabric::Condition waiting_to_go(const PartitionRecord& record) {
  if (!record.swept) return {Reason::waiting, "the subnet manager has not swept without it yet"};
  if (record.former_members.empty()) return {};
  return {Reason::waiting, "these ports may still hold its P_Key: " +
                               join_first(kMostListed, record.former_members, &ib::Guid::text)};
}

// Static members have no binding that would show their condition. Names the first faulty one.
fabric::Condition members_condition(const Records& records, const PartitionRecord& record) {
  fabric::Condition first;
  size_t more = 0;
  for (const StaticMember& member : record.partition.members) {
    const PortRecord* const port = records.find_port(member.guid);
    if (port == nullptr || port->condition.reason == Reason::none) continue;
    if (first.reason != Reason::none)
      ++more;
    else
      first = {port->condition.reason,
               "member " + member.guid.text() + ": " + port->condition.text};
  }
  if (more > 0) first.text += " (and " + std::to_string(more) + " more)";
  return first;
}

}  // namespace

PartitionStatus PartitionView::status(const PartitionRecord& record) const {
  PartitionStatus status{record.partition, record.declared, record.state, record.condition,
                         record.bindings.size()};
  if (record.deleting()) status.condition = waiting_to_go(record);
  if (record.state == PartitionState::ready)
    status.condition = members_condition(records(), record);
  return status;
}

std::shared_ptr<const Definitions> PartitionView::definitions() const {
  const uint64_t version = journal_.version();
  if (definitions_ != nullptr && (definitions_version_ == version || !journal_.is_readable()))
    return definitions_;
  auto all = std::make_shared<Definitions>();
  all->reserve(records().partitions.size() + 1);
  all->push_back(journal_.policy().default_rule);
  for (const auto& [name, record] : records().partitions)
    if (!record.deleting()) all->push_back(render(record, journal_.policy()));
  definitions_ = std::move(all);
  definitions_version_ = version;
  return definitions_;
}

Definitions PartitionView::definitions_with(const fabric::PartitionDefinition& definition) const {
  Definitions all = *definitions();
  const auto place = std::lower_bound(all.begin() + 1, all.end(), definition.name,
                                      [](const fabric::PartitionDefinition& one,
                                         const std::string& name) { return one.name < name; });
  if (place != all.end() && place->name == definition.name)
    *place = definition;
  else
    all.insert(place, definition);
  return all;
}

Definitions PartitionView::definitions_without(const std::string& name) const {
  Definitions all = *definitions();
  std::erase_if(all, [&](const fabric::PartitionDefinition& one) { return one.name == name; });
  return all;
}

std::optional<PartitionStatus> PartitionView::find(const std::string& name) const {
  const PartitionRecord* const record = records().find_partition(name);
  if (record == nullptr) return std::nullopt;
  return status(*record);
}

Result<fabricapi::ListPage<PartitionStatus>> PartitionView::list(
    const fabricapi::PageRequest& page) const {
  fabricapi::ListPage<PartitionStatus> listed;
  const auto& all = records().partitions;
  for (auto at = all.upper_bound(page.token); at != all.end(); ++at) {
    if (listed.items.size() == state::size_of(page)) {
      listed.next = listed.items.back().spec.name;
      break;
    }
    listed.items.push_back(status(at->second));
  }
  return listed;
}

std::vector<DeletedPartition> PartitionView::deleted() const {
  std::vector<DeletedPartition> all;
  for (const auto& [name, record] : records().partitions)
    if (record.deleting() && record.swept && !record.former_members.empty())
      all.push_back({name,
                     record.delete_began,
                     {record.former_members.begin(), record.former_members.end()}});
  return all;
}

}  // namespace ibpod::sm::partitions
