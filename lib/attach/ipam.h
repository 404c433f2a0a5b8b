// A network's IPAM plugin: what an ADD asks of it, and what it has still to take back.
#pragma once

#include "lib/attach/context.h"
#include "lib/cni/ipam.h"
#include "lib/cni/result.h"
#include "lib/node/address_releases.h"
#include "lib/node/record.h"

#include <optional>
#include <string>
#include <string_view>

namespace ibpod::attach {

// It cannot serve InfiniBand: its daemon builds requests from 6-byte Ethernet addresses.
inline constexpr std::string_view kDhcp = "dhcp";

// A network's IPAM, ready to be called for the attachment of this call; nothing where it has
// none. denied if the node does not allow its type.
Result<std::optional<cni::Ipam>> ipam_of(const Context& context, const cni::Network& network);

// Gives back what the record's network may have reserved for it, by the configuration and arguments
// of its ADD; the plugin is looked for in this call's CNI_PATH, or in the ADD's if this call has
// none. A network without IPAM is a success. So is, with a warning, one whose IPAM the node does
// not allow any more: it is not run, and the addresses stay reserved.
Status release_addresses(const Context& context, const node::Record& record, Deadline deadline);

// What the kernel has to be told of a result.
node::Addressing addressing_of(const cni::AddResult& result);

// What one ADD has asked of its network's IPAM, and what it owes it then.
class IpamAllocation {
 public:
  // `ipam` has to outlive it; nothing: the network has none.
  explicit IpamAllocation(const std::optional<cni::Ipam>& ipam) : ipam_(ipam) {}

  bool is_configured() const { return ipam_.has_value(); }
  // Only where it is wanted.
  Result<cni::AddResult> allocate(const Context& context, Deadline deadline);
  // It was asked for addresses, and may have reserved some.
  bool was_requested() const { return reservation_ != Reservation::nothing; }
  // It has refused in words.
  bool was_refused() const { return reservation_ == Reservation::refused; }

 private:
  enum class Reservation { nothing, refused, perhaps };
  const std::optional<cni::Ipam>& ipam_;
  Reservation reservation_ = Reservation::nothing;
};

// What IPAM has still to take back after an attachment's end (node/address_releases.h). The device
// does not wait for it: an IPAM plugin that fails, as a tenant's network can make it do, keeps no
// device out of service.

// A variable of a call's environment: the caller means this attempt (node::Record) and no other.
// An ADD may have replaced the record after the caller has read it, and before its DEL.
inline constexpr std::string_view kOnlyAttempt = "IBPOD_ATTEMPT";
bool is_this_attempt(const Context& context, const std::string& attempt);

// Notes that IPAM has to take the record's addresses back. Nothing where its network has no IPAM.
Status owe_addresses(const Context& context, const node::Record& record);

// What an IPAM plugin's refusal in words (denied) means.
enum class RefusalPolicy {
  keep_owed,  // the addresses are still owed
  forget,     // it has refused the ADD as well, and has reserved nothing: a warning
};

// Has IPAM take back what is owed under this name. Success if nothing is. busy while the record of
// an attachment of the same container and interface says that it has not ended: IPAM plugins know
// an address by these, and would take a living pod's. All else that fails says that the addresses
// are still owed.
Status release_owed(const Context& context, const node::AddressReleaseName& name, Deadline deadline,
                    RefusalPolicy refusal = RefusalPolicy::keep_owed);

// Takes the note away: it cannot be read, and IPAM has been asked without it.
Status forget_owed(const Context& context, const node::AddressReleaseName& name, Deadline deadline);

}  // namespace ibpod::attach
