#include "lib/fabric/partitions_conf_table.h"

#include "lib/fabric/partitions_conf_group.h"
#include "lib/fabric/partitions_conf_head.h"

#include <algorithm>

namespace ibpod::fabric {
namespace {

// Whose index 0 is taken, by the partitions seen so far.
class Index0 {
 public:
  // The earlier partition that asks for index 0 of the same port, as far as GUIDs and groups tell.
  const Partition* find_rival(const Partition& partition) const {
    for (const Member& member : partition.members) {
      if (member.keeps_index0) continue;
      if (grouped_ != nullptr) return grouped_;
      if (member.port.group() && any_ != nullptr) return any_;
      const auto same = by_port_.find(member.port);
      if (same != by_port_.end()) return same->second;
    }
    return nullptr;
  }
  void add(const Partition& partition) {
    for (const Member& member : partition.members) {
      if (member.keeps_index0) continue;
      any_ = &partition;
      if (member.port.group()) grouped_ = &partition;
      by_port_.emplace(member.port, &partition);
    }
  }

 private:
  const Partition* any_ = nullptr;
  const Partition* grouped_ = nullptr;  // one with ALL or its like
  std::map<PortSpecifier, const Partition*> by_port_;
};

bool same_flags(const Partition& a, const Partition& b) {
  return a.ipoib == b.ipoib && a.group == b.group;
}

}  // namespace

Result<Table::Row*> Table::row_of(const Partition& head, Place place) {
  const auto [known, added] = by_pkey_.emplace(head.pkey.value(), rows_.size());
  if (added) {
    if (head.ipoib) TRY(make_group(broadcast_group(head.pkey), place));
    return &rows_.emplace_back(Row{head, place, {}, false});
  }
  Row& row = rows_[known->second];
  const std::string first = " as on line " + std::to_string(row.place.line);
  if (row.partition.name != head.name) {
    return wrong(place, head.pkey.text() + " is \"" + row.partition.name + "\"" + first +
                            ": OpenSM would merge the two");
  }
  if (!same_flags(row.partition, head))
    return wrong(place, "of two definitions of " + head.pkey.text() +
                            " OpenSM mixes the flags: write the same ones" + first);
  // Of indx0 it does not: that is each definition's own.
  row.has_keepers |= row.partition.index0 && !head.index0;
  const bool late = head.index0 && (!row.partition.index0 || row.has_keepers);
  if (late || (row.has_keepers && head.pkey == kDefaultPKey))
    return wrong(place, "of two definitions of " + head.pkey.text() +
                            " the one with indx0 comes first, and Default has it in all or none");
  return &row;
}

Status Table::make_group(const Mgid& mgid, Place place) {
  constexpr uint8_t kFlags = 0xf0;  // beside the scope, which OpenSM sets
  Mgid any_scope = mgid;
  any_scope[1] &= kFlags;
  if (groups_.insert(any_scope).second) return ok();
  return wrong(place, "this multicast group is there already: OpenSM would leave this one out");
}

Status Table::add_line(Row& row, const Entries& line, MemberReader::Otherwise otherwise) {
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i].name.text != "mgid") {
      TRY(row.members.take(line[i], otherwise, options_));
      continue;
    }
    const MulticastGroup group = TRY(read_group(std::span(line).subspan(i), row.partition));
    TRY(make_group(group.mgid, line[i].name.place));
    row.partition.groups.push_back(group);
    return ok();  // the rest of the line is the group's
  }
  return ok();
}

// The default partition may ask for index 0 of every port, as what is there where no other does:
// the last definition that asks is the one that gets it (osm_prtn.c, osm_prtn_add_port).
Status Table::check_base(const Partition& head, Place place) const {
  if (!head.index0 || head.pkey != kDefaultPKey) return ok();
  for (const Row& row : rows_) {
    if (row.partition.index0 && row.partition.pkey != kDefaultPKey)
      return wrong(place, "behind " + row.partition.pkey.text() +
                              " this indx0 would take index 0 from it: put Default first");
  }
  return ok();
}

Status Table::add(const Definition& definition) {
  const Partition head = TRY(read_head(definition, options_));
  TRY(check_base(head, definition.place));
  Row* row = TRY(row_of(head, definition.place));
  const MemberReader::Otherwise otherwise{head.default_membership, row->has_keepers};
  for (const Entries& line : definition.lines) TRY(add_line(*row, line, otherwise));
  return ok();
}

Status Table::check_index0() const {
  Index0 index0;
  for (const Row& row : rows_) {
    if (!row.partition.index0 || row.partition.pkey == kDefaultPKey) continue;
    if (const Partition* rival = index0.find_rival(row.partition)) {
      return wrong(row.place,
                   row.partition.pkey.text() + " and " + rival->pkey.text() +
                       " both ask for index 0 of a port: leave indx0 out of one of them");
    }
    index0.add(row.partition);
  }
  return ok();
}

// A port that is named with indx0 and again without has the key elsewhere, and nothing at index 0
// (osm_prtn.c, osm_prtn_add_port).
Status Table::check_keepers() const {
  for (const Row& row : rows_) {
    const std::vector<Member>& members = row.partition.members;
    const auto group = std::find_if(members.begin(), members.end(), [](const Member& member) {
      return member.port.group().has_value();
    });
    if (row.has_keepers && group != members.end())
      return wrong(row.place, row.partition.pkey.text() +
                                  " has definitions with indx0 and without, and names " +
                                  group->port.text() +
                                  ": a port of both would lose index 0; write GUIDs");
  }
  return ok();
}

Result<std::vector<Partition>> Table::end() && {
  for (Row& row : rows_) row.partition.members = row.members.members();
  TRY(check_keepers());
  TRY(check_index0());
  std::vector<Partition> partitions;
  for (Row& row : rows_) partitions.push_back(std::move(row.partition));
  return partitions;
}

}  // namespace ibpod::fabric
