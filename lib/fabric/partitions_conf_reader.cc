#include "lib/fabric/partitions_conf.h"
#include "lib/fabric/partitions_conf_lexer.h"
#include "lib/fabric/partitions_conf_parser.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

namespace ibpod::fabric {
namespace {

// The ports that have their index 0 taken by the partitions seen so far.
class Index0 {
 public:
  // The earlier partition that asks for index 0 of the same port, as far as GUIDs and groups tell.
  const PartitionDefinition* find_conflict(const PartitionDefinition& definition) const {
    for (const Member& member : definition.members) {
      if (member.skip_index0) continue;
      if (grouped_ != nullptr) return grouped_;
      if (member.port.group() && any_ != nullptr) return any_;
      const auto same = by_port_.find(member.port);
      if (same != by_port_.end()) return same->second;
    }
    return nullptr;
  }
  void add(const PartitionDefinition& definition) {
    for (const Member& member : definition.members) {
      if (member.skip_index0) continue;
      any_ = &definition;
      if (member.port.group()) grouped_ = &definition;
      by_port_.emplace(member.port, &definition);
    }
  }

 private:
  const PartitionDefinition* any_ = nullptr;
  const PartitionDefinition* grouped_ = nullptr;  // one with ALL or its like
  std::map<PortSpecifier, const PartitionDefinition*> by_port_;
};

bool same_flags(const PartitionDefinition& a, const PartitionDefinition& b) {
  return a.ipoib == b.ipoib && a.group == b.group;
}

// The partitions of a file, definition by definition.
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

Result<PartitionsConfReader::Row*> PartitionsConfReader::row_of(const PartitionDefinition& head,
                                                                SourcePosition position) {
  const auto [known, added] = by_pkey_.emplace(head.pkey.value(), rows_.size());
  if (added) {
    if (head.ipoib) TRY(make_group(broadcast_group(head.pkey), position));
    return &rows_.emplace_back(Row{head, position, {}, false});
  }
  Row& row = rows_[known->second];
  const std::string first = " as on line " + std::to_string(row.position.line);
  if (row.definition.name != head.name) {
    return wrong(position, head.pkey.text() + " is \"" + row.definition.name + "\"" + first +
                               ": OpenSM would merge the two");
  }
  if (!same_flags(row.definition, head))
    return wrong(position, "OpenSM mixes the flags of the two definitions of " + head.pkey.text() +
                               ": write the same flags" + first);
  // OpenSM does not mix indx0: each definition has its own.
  row.has_skip_index0 |= row.definition.index0 && !head.index0;
  const bool late = head.index0 && (!row.definition.index0 || row.has_skip_index0);
  if (late || (row.has_skip_index0 && head.pkey == kDefaultPKey))
    return wrong(
        position,
        "two definitions of " + head.pkey.text() +
            ": the one with indx0 must come first, and Default must have it in all or none");
  return &row;
}

Status PartitionsConfReader::make_group(const Mgid& mgid, SourcePosition position) {
  constexpr uint8_t kFlags = 0xf0;  // all but the scope, which OpenSM sets
  Mgid any_scope = mgid;
  any_scope[1] &= kFlags;
  if (groups_.insert(any_scope).second) return ok();
  return wrong(position, "this multicast group exists already: OpenSM would skip this one");
}

Status PartitionsConfReader::add_line(Row& row, const Entries& line,
                                      MemberReader::EntryDefaults otherwise) {
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i].name.text != "mgid") {
      TRY(row.members.take(line[i], otherwise, options_));
      continue;
    }
    const MulticastGroup group = TRY(read_group(std::span(line).subspan(i), row.definition));
    TRY(make_group(group.mgid, line[i].name.position));
    row.definition.groups.push_back(group);
    return ok();  // the rest of the line is the group's
  }
  return ok();
}

// The default partition may request index 0 of every port as a base: the last definition that
// requests index 0 of a port gets it (osm_prtn.c, osm_prtn_add_port).
Status PartitionsConfReader::check_base(const PartitionDefinition& head,
                                        SourcePosition position) const {
  if (!head.index0 || head.pkey != kDefaultPKey) return ok();
  for (const Row& row : rows_) {
    if (row.definition.index0 && row.definition.pkey != kDefaultPKey)
      return wrong(position, "after " + row.definition.pkey.text() +
                                 ", this indx0 would take index 0 from it: put Default first");
  }
  return ok();
}

Status PartitionsConfReader::add(const DefinitionTokens& tokens) {
  const PartitionDefinition head = TRY(read_head(tokens, options_));
  TRY(check_base(head, tokens.position));
  Row* row = TRY(row_of(head, tokens.position));
  const MemberReader::EntryDefaults otherwise{head.default_membership, row->has_skip_index0};
  for (const Entries& line : tokens.lines) TRY(add_line(*row, line, otherwise));
  return ok();
}

Status PartitionsConfReader::check_index0() const {
  Index0 index0;
  for (const Row& row : rows_) {
    if (!row.definition.index0 || row.definition.pkey == kDefaultPKey) continue;
    if (const PartitionDefinition* conflict = index0.find_conflict(row.definition)) {
      return wrong(row.position,
                   row.definition.pkey.text() + " and " + conflict->pkey.text() +
                       " both request index 0 of a port: remove indx0 from one of them");
    }
    index0.add(row.definition);
  }
  return ok();
}

// A port that is listed with indx0 and again without it gets the key at another index, and nothing
// at index 0 (osm_prtn.c, osm_prtn_add_port).
Status PartitionsConfReader::check_skip_index0() const {
  for (const Row& row : rows_) {
    const std::vector<Member>& members = row.definition.members;
    const auto group = std::find_if(members.begin(), members.end(), [](const Member& member) {
      return member.port.group().has_value();
    });
    if (row.has_skip_index0 && group != members.end())
      return wrong(row.position, row.definition.pkey.text() +
                                     " has definitions with indx0 and without, and contains " +
                                     group->port.text() +
                                     ": a port in both would lose index 0; write GUIDs instead");
  }
  return ok();
}

Result<std::vector<PartitionDefinition>> PartitionsConfReader::end() && {
  for (Row& row : rows_) row.definition.members = row.members.members();
  TRY(check_skip_index0());
  TRY(check_index0());
  std::vector<PartitionDefinition> definitions;
  for (Row& row : rows_) definitions.push_back(std::move(row.definition));
  return definitions;
}

}  // namespace

Result<std::vector<PartitionDefinition>> read_partitions(std::string_view text,
                                                         const OpenSmOptions& options) {
  const LexResult parsed = lex_definitions(text);
  PartitionsConfReader table(options);
  for (const DefinitionTokens& tokens : parsed.definitions) TRY(table.add(tokens));
  TRY(parsed.end);
  return std::move(table).end();
}

Result<std::vector<PartitionDefinition>> read_partitions_conf(std::string_view text,
                                                              const OpenSmOptions& options) {
  std::vector<PartitionDefinition> definitions = TRY(read_partitions(text, options));
  for (const PartitionDefinition& definition : definitions) {
    if (definition.pkey == kDefaultPKey) return definitions;
  }
  return Error(
      Code::invalid,
      definitions.empty()
          ? "no partition is defined: OpenSM would make every port a full member of the default "
            "partition"
          : "no rule for the default partition: expected Default=0x7fff : ALL=limited, SELF=full;");
}

}  // namespace ibpod::fabric
