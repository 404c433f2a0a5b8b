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

class PartitionsConfReader {
 public:
  explicit PartitionsConfReader(const OpenSmOptions& options) : options_(options) {}

  Status add(const DefinitionTokens& tokens);
  // Refuses what only all of them together tell.
  Result<std::vector<PartitionDefinition>> end() &&;

 private:
  using Mgid = decltype(MulticastGroup::mgid);
  struct Row {
    PartitionDefinition definition;
    SourcePosition position;
    MemberReader members;
    bool has_skip_index0 = false;  // a definition without the indx0 of the first one has come
  };

  // That of its P_Key: a new one, or the one of an earlier definition, which has to agree.
  Result<Row*> row_of(const PartitionDefinition& head, SourcePosition position);
  Status add_line(Row& row, const Entries& line, MemberReader::EntryDefaults otherwise);
  Status make_group(const Mgid& mgid, SourcePosition position);
  Status check_base(const PartitionDefinition& head, SourcePosition position) const;
  Status check_index0() const;
  Status check_skip_index0() const;

  OpenSmOptions options_;
  std::vector<Row> rows_;
  std::map<uint16_t, size_t> by_pkey_;
  std::set<Mgid> groups_;
};

}  // namespace ibpod::fabric
