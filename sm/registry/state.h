// Book: the ledger's entries and what finds them; all that is read anew from the store. It knows
// how entries hang together, and nothing of who may change them.
#pragma once

#include "lib/fabric/partition_definition.h"
#include "lib/fabric/partition.h"
#include "sm/registry/boot_id_tracker.h"
#include "sm/registry/memberships.h"

#include <chrono>
#include <map>
#include <set>
#include <tuple>

namespace ibpod::sm {

using Steady = std::chrono::steady_clock::time_point;

struct Entry {
  fabric::Binding binding;
  // What it was told to be in before, and what may be in the port's table still. Empty: all of it
  // has been seen to be gone.
  Shares former;
  // Not on disk, from here on.
  Steady lease_end{};
  bool unnamed = false;  // a Sync has come since the lease was renewed, without it
  bool lost = false;     // `unknown` because its lease has ended
};

struct ByAttachment {
  using is_transparent = void;
  bool operator()(const Entry* a, const Entry* b) const {
    return a->binding.attachment < b->binding.attachment;
  }
  bool operator()(const Entry* a, const fabric::Attachment& b) const {
    return a->binding.attachment < b;
  }
  bool operator()(const fabric::Attachment& a, const Entry* b) const {
    return a < b->binding.attachment;
  }
};

// How OpenSM is to have a port in a partition.
struct Told {
  fabric::Membership membership;
  // Where the partition asks for index 0: the port is in it by children alone, and the interface
  // that they are on goes by index 0.
  bool keeps_index0;
  auto operator<=>(const Told&) const = default;
};

struct Tenant {
  fabric::Tenancy tenancy;
  bool declared = false;
  fabric::TenancyState state = fabric::TenancyState::provisioning;  // `deleting` is on disk
  fabric::Standing standing;
  // Ports outside Kubernetes that have been members, and whose tables may hold the key still.
  std::set<ib::Guid> leaving;
  // Not on disk, from here on.
  uint64_t version = 0;                           // in which it last changed
  bool swept = false;                             // that version
  std::set<const Entry*, ByAttachment> bindings;  // which it is a share of, or has been
  std::map<ib::Guid, Told> told;                  // members
  // Of its members, and of `leaving`: those that no look at the subnet has found since they became
  // members.
  std::set<ib::Guid> never_seen;
  Steady retired{};  // when it began to be deleted, as far as this process knows
  mutable std::optional<fabric::Partition> as_told;  // made when it is asked for

  bool deleting() const { return state == fabric::TenancyState::deleting; }
};

// A port, as far as anything here names it.
struct Port {
  using Memberships = std::vector<std::pair<Tenant*, fabric::Membership>>;
  using AllTold = std::vector<std::pair<Tenant*, Told>>;
  std::vector<Entry*> bindings;
  Memberships members;  // static ones
  AllTold told;         // in no order that means anything, but the same one for the same members
  std::set<Tenant*> leaving;
  uint64_t changed_in = 0;
  // In how many partitions its bindings are to be, and whose node's they are.
  size_t memberships = 0;
  std::string node;
  // Why it is not as it should be; Reason::none: nothing is known against it.
  fabric::Standing trouble;
};

// To which VF the pool has given a GUID.
struct VfPlace {
  std::string node;
  std::string pf;  // PCI address
  uint32_t vf = 0;
  auto operator<=>(const VfPlace&) const = default;
};

struct NodeEntry {
  bool forgetting = false;
  std::set<ib::Guid> pfs;  // claimed
  Machine machine = {};
  // Not on disk, from here on.
  std::optional<Steady> heard;  // and the same for people:
  std::optional<fabric::WallTime> last_heard;
  size_t bindings = 0;
  size_t guids = 0;
  size_t memberships = 0;  // of its ports
};

class Book {
 public:
  Book() = default;
  // Entries point at each other.
  Book(const Book&) = delete;
  Book& operator=(const Book&) = delete;

  std::map<fabric::Attachment, Entry> bindings;
  std::map<std::string, Tenant> tenants;
  std::map<uint16_t, Tenant*> by_pkey;
  std::map<ib::Guid, Port> ports;
  std::map<ib::Guid, VfPlace> given;
  std::map<VfPlace, ib::Guid> by_vf;
  std::map<ib::Guid, std::string> claims;
  std::map<std::string, NodeEntry> nodes;
  std::set<std::pair<Steady, Entry*>> leases;
  // Ports with a binding that is `requested`; ports of which something has still to be seen.
  std::set<ib::Guid> requested, unsettled;
  // GUIDs that the pool must not give: all that have a port, a place or a claim.
  std::set<ib::Guid> named;
  size_t memberships = 0;     // of all ports
  size_t static_members = 0;  // of all partitions
  std::optional<uint16_t> last_pkey;
  std::optional<ib::Guid> last_guid;

  Tenant* find_tenant(const std::string& name);
  const Tenant* find_tenant(const std::string& name) const;
  const Port* find_port(ib::Guid guid) const;
  Port& port(ib::Guid guid);

  // Entries come and go with what finds them. What a port is told follows with refresh().
  Entry& add(fabric::Binding binding, Shares former);
  void remove(Entry& entry);
  Tenant& add(fabric::Tenancy tenancy);
  void remove(Tenant& tenant);
  void set_members(Tenant& tenant, std::vector<fabric::StaticMember> members);
  void give(ib::Guid guid, const VfPlace& place);
  void claim(ib::Guid guid, const std::string& node);
  // With the GUIDs and claims that it has.
  void remove_node(const std::string& node);

  // To be called around every change of shares, held and former.
  void index_shares(Entry& entry);
  void unindex_shares(Entry& entry);
  void renew(Entry& entry, Steady end);
  void end_lease(Entry& entry);

  // Brings to the partitions what a port is to be told now, as of version `next`. Whether that is
  // anything else than before. The port goes if nothing names it.
  bool refresh(ib::Guid guid, uint64_t next);
  // How many partitions the port would be in with these, too, in place of those of `except`.
  size_t memberships_with(ib::Guid guid, const Shares& shares, const Entry* except) const;

  // What has to be seen of it, after a change of states alone.
  void settle(ib::Guid guid);

 private:
  void count_memberships(ib::Guid guid);
  Port::AllTold wanted(const Port& port);
  static void tell(Port::AllTold before, const Port::AllTold& after, ib::Guid guid);
  void drop_if_unnamed(ib::Guid guid);
};

// Of an interface on the port of a PF, whose own interface keeps its place.
bool is_child(const fabric::Binding& binding);
// Every partition that the entry is in, was in, or is to be in.
Shares all_shares(const Entry& entry);

}  // namespace ibpod::sm
