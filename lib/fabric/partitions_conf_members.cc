#include "lib/fabric/partitions_conf_members.h"

#include "lib/fabric/partitions_conf_words.h"

namespace ibpod::fabric {
namespace {

std::string at(SourcePosition position) {
  return "line " + std::to_string(position.line) + ", column " + std::to_string(position.column);
}

}  // namespace

Status check_usable(Membership membership, SourcePosition position, const OpenSmOptions& options) {
  if (membership != Membership::both || options.allow_both_pkeys) return ok();
  return wrong(position, "OpenSM makes both full unless opensm.conf has allow_both_pkeys TRUE");
}

// OpenSM uses the last entry that matches a port. A group before a single port writes an exception;
// the other way around the group overrides the port's entry.
Status MemberReader::check_overrides(const Member& member, SourcePosition position) const {
  const auto twice = positions_.find(member.port);
  if (twice != positions_.end()) {
    return wrong(position, member.port.text() + " is in this partition already: " +
                               at(twice->second) + ": OpenSM would use the last entry");
  }
  const std::optional<PortGroup> group = member.port.group();
  if (!group || group == PortGroup::self) return ok();
  for (const auto& [other, where] : group == PortGroup::all ? given_ : given_to_one_) {
    if (other == member.membership) continue;
    return wrong(position, member.port.text() + " as " + std::string(name(member.membership)) +
                               " overrides the entry of " + at(where) + ": put it before that one");
  }
  return ok();
}

// A hint for a ',' in place of the '=' before a membership.
std::string MemberReader::likely_meant(const Entry& entry) const {
  if (entry.value || members_.empty() || !parse_membership(entry.name.text)) return "";
  return ": a membership follows '=': write " + members_.back().port.text() + "=" +
         std::string(entry.name.text);
}

Status MemberReader::take(const Entry& entry, EntryDefaults otherwise,
                          const OpenSmOptions& options) {
  const SourcePosition position = entry.name.position;
  if (entry.name.text == "NONE") {
    if (entry.value) return wrong(entry.value->position, "NONE takes no membership");
    return ok();
  }
  const Result<PortSpecifier> port = PortSpecifier::parse(entry.name.text);
  if (!port) return wrong(position, port.error().text() + likely_meant(entry));
  Member member{*port, otherwise.membership, otherwise.skip_index0};
  if (entry.value) {
    member.membership = TRY(read_membership(*entry.value));
    TRY(check_usable(member.membership, entry.value->position, options));
  }
  TRY(check_overrides(member, position));
  positions_.emplace(member.port, position);
  given_.emplace(member.membership, position);
  const std::optional<PortGroup> group = member.port.group();
  if (!group || group == PortGroup::self) given_to_one_.emplace(member.membership, position);
  members_.push_back(member);
  return ok();
}

}  // namespace ibpod::fabric
