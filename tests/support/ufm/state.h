// Partitions as a UFM stores them, and the ways in which releases and stand-ins of UFM differ.
// Nothing here shares code with sm/ufm: a mistake of one would be the other's, too.
#pragma once

#include "lib/ib/guid.h"
#include "lib/ib/pkey.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ibpod::fake_ufm {

struct Member {
  ib::Membership membership = ib::Membership::full;
  bool index0 = false;
  bool operator==(const Member&) const = default;
};

// As UFM shows it: an MTU code, a service level of 0 to 15, and a rate as text, such as "2.5".
struct Qos {
  int mtu_limit = 2;
  int service_level = 0;
  std::string rate_limit = "2.5";
  bool operator==(const Qos&) const = default;
};

struct Partition {
  std::string name;
  bool ip_over_ib = true;
  Qos qos = {};
  std::map<ib::Guid, Member> members = {};
  bool operator==(const Partition&) const = default;
};

// By P_Key with bit 15 clear.
using Partitions = std::map<ib::PKey, Partition>;

// "management": always there, and read only.
inline constexpr ib::PKey kManagement{0x7fff};

// A group of /app/smconf/physical_virtual_mapping: these virtual GUIDs may appear behind these
// ports.
struct GuidGroup {
  std::vector<ib::Guid> physical, virtual_guids;
  std::string properties = {};  // JSON as it was sent; empty: none
  bool operator==(const GuidGroup&) const = default;
};
// By ID.
using GuidGroups = std::map<int, GuidGroup>;

// The defaults are those of UFM 6.19.1 as its users report it; NICo's carbide-ufm-mock and
// nv-config-manager's ufm_mock have others (docs/ufm-stand-in.md).
struct Switches {
  bool accepts_unknown_guids = true;        // false: 404 for a GUID of no known port
  bool post_creates = true;                 // false: POST to a missing P_Key is 404
  bool removal_of_last_deletes = true;      // false: the partition stays, empty
  bool atomic = true;                       // false: what precedes a refused GUID is stored
  bool missing_is_404 = true;               // false: GET of a missing P_Key is 200 with {}
  bool post_honors_memberships = false;     // as the manual says; UFM makes all members full
  bool post_overwrites_ip_over_ib = false;  // of a partition that exists already
  bool index0_once = false;                 // true: 400 for index 0 of a GUID in a second P_Key
  bool port_in_one_group = false;           // true: 400 for a port of another group of GUIDs
  int created_status = 200;                 // of /add: 200 or 201
  int exists_status = 409;                  // of /add of a P_Key that exists: 409 or 400
  bool operator==(const Switches&) const = default;
};

}  // namespace ibpod::fake_ufm
