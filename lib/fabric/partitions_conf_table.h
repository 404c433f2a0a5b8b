// The partitions of partitions.conf as they come together, definition by definition.
#pragma once

#include "lib/base/result.h"
#include "lib/fabric/partition_definition.h"
#include "lib/fabric/partitions_conf.h"
#include "lib/fabric/partitions_conf_members.h"
#include "lib/fabric/partitions_conf_syntax.h"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace ibpod::fabric {

class Table {
 public:
  explicit Table(const OpenSmOptions& options) : options_(options) {}

  Status add(const Definition& definition);
  // Refuses what only all of them together tell.
  Result<std::vector<Partition>> end() &&;

 private:
  using Mgid = decltype(MulticastGroup::mgid);
  struct Row {
    Partition partition;
    Place place;
    MemberReader members;
    bool has_keepers = false;  // a definition without the indx0 of the first one has come
  };

  // That of its P_Key: a new one, or the one of an earlier definition, which has to agree.
  Result<Row*> row_of(const Partition& head, Place place);
  Status add_line(Row& row, const Entries& line, MemberReader::Otherwise otherwise);
  Status make_group(const Mgid& mgid, Place place);
  Status check_base(const Partition& head, Place place) const;
  Status check_index0() const;
  Status check_keepers() const;

  OpenSmOptions options_;
  std::vector<Row> rows_;
  std::map<uint16_t, size_t> by_pkey_;
  std::set<Mgid> groups_;
};

}  // namespace ibpod::fabric
