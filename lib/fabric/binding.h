// Binding: the partitions that a port is in for a pod, and how far that is so. Values without I/O.
#pragma once

#include "lib/fabric/membership.h"
#include "lib/ib/guid.h"
#include "lib/ib/pkey.h"

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::fabric {

// The owner of a binding: one interface of one container of one node, as in CNI.
struct Attachment {
  std::string node;
  std::string container;
  std::string interface;
  auto operator<=>(const Attachment&) const = default;
};
// NODE/CONTAINER/INTERFACE
std::string text(const Attachment& attachment);

struct Pod {
  std::string name_space;
  std::string name;
  std::string uid;
  bool operator==(const Pod&) const = default;
};

// A VF's port belongs to one attachment. IPoIB children share the port of their PF: what the
// bindings of one GUID have in common leaves with the last of them.
enum class Kind { vf, child };
std::string_view name(Kind kind);
std::optional<Kind> parse_kind(std::string_view text);

// Membership in a partition, named by its name.
struct PartitionMembership {
  std::string partition;
  Membership membership = Membership::limited;
  auto operator<=>(const PartitionMembership&) const = default;
};

// requested: on disk, and nothing else yet. written: what OpenSM reads from now on has it.
// verified: the port's own table is as it should be. releasing: the keys have to leave the table.
// released: they have left it. unknown: the port, or the node, cannot be asked, so its keys and
// its GUID stay reserved for it.
enum class BindingState { requested, written, verified, releasing, released, unknown };
std::string_view name(BindingState state);
std::optional<BindingState> parse_state(std::string_view text);

// Why a binding or a partition is not as it should be. A closed set: it is a label of metrics.
enum class Reason {
  none,
  waiting,        // for the subnet manager's next sweep, or the first look
  unreachable,    // no route to the port, or nothing came back by it
  timeout,        // the port did not answer in time
  refused,        // the port answered that it will not
  misconfigured,  // the subnet manager is not as ibpod needs it: another file, an option
  capacity,       // a P_Key table, or a pool, is full
  port_down,      // the port was on the subnet, and is not now
  port_unknown,   // no port of the subnet has this GUID
  vport,          // the port is a vport, which this subnet manager does not serve
  not_permitted,  // to this node, or this namespace
  foreign_key,    // the table holds a key that was not assigned to it
  missing_key,    // the table lacks a key
  duplicate,      // two ports have this GUID
  no_master,      // there is no subnet manager, or it is not the master
  lease,          // the node has not been heard of
};
std::string_view name(Reason reason);
std::optional<Reason> parse_reason(std::string_view text);

// The source that has confirmed the keys in the port's table. port: the port itself, asked by a
// SubnGet. node: the agent of the port's node, from the device.
enum class Proof { none, port, node };
std::string_view name(Proof proof);
std::optional<Proof> parse_proof(std::string_view text);
Words<Proof> words_of(Proof);
// True if `seen` is at least as strong as `wanted`: port is stronger than node, node than none.
bool satisfies(Proof seen, Proof wanted);

// The place at which the port's traffic is limited to its partitions. leaf: also at the switch port
// that it is connected to, so that not even root on the node can bypass it. hca: only in the device
// itself.
enum class Enforcement { unknown, hca, leaf };
std::string_view name(Enforcement enforcement);
std::optional<Enforcement> parse_enforcement(std::string_view text);

// How far a binding, or a partition, is; and why not further.
struct Condition {
  Reason reason = Reason::none;
  std::string text;  // for people: what is the matter, and how to mend it
  bool operator==(const Condition&) const = default;
};

using WallTime = std::chrono::sys_time<std::chrono::milliseconds>;

struct Binding {
  Attachment attachment;
  ib::Guid guid;                // of the port
  bool guid_requested = false;  // by the pod: the GUID is not the VF's own
  Kind kind = Kind::vf;
  std::string pf;      // as the node calls it: ib0
  ib::Guid pf_guid;    // of the PF's port; none where the node has not said
  std::string device;  // PCI address: of the VF, or of the PF
  Pod pod;
  // The partitions that it is to be in, by name. No partition comes twice.
  std::vector<PartitionMembership> desired;
  // The keys of `desired`, in its order, as the port's table has them: with bit 15 for a full
  // member, also if the membership is both. Empty: not known.
  std::vector<ib::PKey> keys;
  // The memberships that the subnet manager is given now. If a change takes keys away, they have to
  // be gone before others are given: until then these are common to the old and the new ones.
  std::vector<PartitionMembership> applied;
  uint64_t generation = 0;  // grows with each change of `desired`
  BindingState state = BindingState::requested;
  Condition condition;
  Proof proof = Proof::none;
  Enforcement enforcement = Enforcement::unknown;
  WallTime asked{};    // the Bind
  WallTime changed{};  // of `state`
  bool operator==(const Binding&) const = default;
};

}  // namespace ibpod::fabric
