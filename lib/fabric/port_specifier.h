// PortSpecifier: which ports an entry of a partition speaks of: one, by its GUID, or a group that
// OpenSM knows (osm_prtn_config.c, partition_add_port).
#pragma once

#include "lib/base/result.h"
#include "lib/ib/guid.h"

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace ibpod::fabric {

// End ports: of channel adapters and routers, and port 0 of switches. self: the port on which
// OpenSM runs.
enum class PortGroup { all, all_cas, all_switches, all_routers, self };
// ALL, ALL_CAS, ALL_SWITCHES, ALL_ROUTERS, SELF
std::string_view name(PortGroup group);

class PortSpecifier {
 public:
  // NOLINTBEGIN(google-explicit-constructor): so that an entry can be written as {guid,
  // membership}.
  PortSpecifier(ib::Guid guid) : guid_(guid) {}
  PortSpecifier(PortGroup group) : group_(group) {}
  // NOLINTEND(google-explicit-constructor)

  // A group's name, or 0x and 16 hex digits: a GUID that a port can have
  // (ib/guid.h). Everything else is refused, much of which OpenSM reads as something: a start of a
  // name as the whole of it, digits without 0x as decimal or octal, short ones as if zeros stood in
  // front.
  static Result<PortSpecifier> parse(std::string_view text);

  std::optional<PortGroup> group() const { return group_; }
  // Only where there is no group().
  ib::Guid guid() const { return guid_; }
  // As partitions.conf has it.
  std::string text() const;

  auto operator<=>(const PortSpecifier&) const = default;

 private:
  std::optional<PortGroup> group_;
  ib::Guid guid_;
};

}  // namespace ibpod::fabric
