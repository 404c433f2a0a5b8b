#include "lib/fabric/partitions_conf_members.h"

#include "lib/fabric/partitions_conf_words.h"

namespace ibpod::fabric {
namespace {

std::string at(Place place) {
  return "line " + std::to_string(place.line) + ", column " + std::to_string(place.column);
}

}  // namespace

Status check_usable(Membership membership, Place place, const OpenSmOptions& options) {
  if (membership != Membership::both || options.allow_both_pkeys) return ok();
  return wrong(place, "OpenSM makes both full unless opensm.conf has allow_both_pkeys TRUE");
}

// Of what is said of one port the last counts. From many to one that is how exceptions are written;
// the other way it takes away what stands before it.
Status MemberReader::check_overrides(const Member& member, Place place) const {
  const auto twice = places_.find(member.port);
  if (twice != places_.end()) {
    return wrong(place, member.port.text() + " is in this partition already: " + at(twice->second) +
                            ": OpenSM takes the last of the two");
  }
  const std::optional<PortGroup> group = member.port.group();
  if (!group || group == PortGroup::self) return ok();
  for (const auto& [other, where] : group == PortGroup::all ? given_ : given_to_one_) {
    if (other == member.membership) continue;
    return wrong(place, member.port.text() + " as " + std::string(name(member.membership)) +
                            " overrides the entry of " + at(where) + ": put it before that one");
  }
  return ok();
}

// A ',' for the '=' before a membership is easily overlooked.
std::string MemberReader::likely_meant(const Entry& entry) const {
  if (entry.value || members_.empty() || !parse_membership(entry.name.text)) return "";
  return ": a membership stands behind '=': write " + members_.back().port.text() + "=" +
         std::string(entry.name.text);
}

Status MemberReader::take(const Entry& entry, Otherwise otherwise, const OpenSmOptions& options) {
  const Place place = entry.name.place;
  if (entry.name.text == "NONE") {
    if (entry.value) return wrong(entry.value->place, "NONE has no membership");
    return ok();
  }
  const Result<PortSpecifier> port = PortSpecifier::parse(entry.name.text);
  if (!port) return wrong(place, port.error().text() + likely_meant(entry));
  Member member{*port, otherwise.membership, otherwise.keeps_index0};
  if (entry.value) {
    member.membership = TRY(read_membership(*entry.value));
    TRY(check_usable(member.membership, entry.value->place, options));
  }
  TRY(check_overrides(member, place));
  places_.emplace(member.port, place);
  given_.emplace(member.membership, place);
  const std::optional<PortGroup> group = member.port.group();
  if (!group || group == PortGroup::self) given_to_one_.emplace(member.membership, place);
  members_.push_back(member);
  return ok();
}

}  // namespace ibpod::fabric
