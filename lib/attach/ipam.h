// A network's IPAM plugin: allocation in ADD, and release afterwards.
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

// The network's IPAM plugin for this call; nothing if it has none. denied if the node does not
// allow its type.
Result<std::optional<cni::Ipam>> ipam_of(const Context& context, const cni::Network& network);

// Releases the addresses of the record's network, with the configuration and arguments of its ADD
// and this call's CNI_PATH (or the ADD's if it is empty). ok if the network has no IPAM; ok with a
// warning if the node no longer allows the plugin: it is not run, and the addresses stay reserved.
Status release_addresses(const Context& context, const node::Record& record, Deadline deadline);

// The addresses and routes of an IPAM result, for the kernel.
node::Addressing addressing_of(const cni::AddResult& result);

// One ADD's request to its network's IPAM plugin, and what has to be released after it.
class IpamAllocation {
 public:
  // `ipam` has to outlive it; nothing: the network has no IPAM.
  explicit IpamAllocation(const std::optional<cni::Ipam>& ipam) : ipam_(ipam) {}

  bool is_configured() const { return ipam_.has_value(); }
  // Asks for addresses. Call it only if is_configured().
  Result<cni::AddResult> allocate(const Context& context, Deadline deadline);
  // True if the plugin was asked for addresses, and may have reserved some.
  bool was_requested() const { return reservation_ != Reservation::nothing; }
  // True if the plugin refused explicitly.
  bool was_refused() const { return reservation_ == Reservation::refused; }

 private:
  enum class Reservation { nothing, refused, perhaps };
  const std::optional<cni::Ipam>& ipam_;
  Reservation reservation_ = Reservation::nothing;
};

// Addresses still owed to IPAM after an attachment's end (node/address_releases.h). The device is
// free without them: a failing IPAM plugin, which a tenant can bring about, keeps no device out of
// service.

// Environment variable that limits a call to one attempt (node::Record): an ADD may have replaced
// the record between the caller's read and its DEL.
inline constexpr std::string_view kOnlyAttempt = "IBPOD_ATTEMPT";
bool is_this_attempt(const Context& context, const std::string& attempt);

// Records that the addresses have to be released. Does nothing if the network has no IPAM.
Status owe_addresses(const Context& context, const node::Record& record);

// The meaning of an IPAM plugin's explicit refusal (denied).
enum class RefusalPolicy {
  keep_owed,  // the addresses are still owed
  forget,     // it refused the ADD as well and has reserved nothing: only a warning
};

// Has the IPAM plugin release the addresses owed under this name; ok if there are none. busy until
// the attachment of this container and interface has ended, as IPAM would release a living pod's
// address. After any other error the addresses are still owed.
Status release_owed(const Context& context, const node::AddressReleaseName& name, Deadline deadline,
                    RefusalPolicy refusal = RefusalPolicy::keep_owed);

// Removes the file of owed addresses: it cannot be read, and IPAM has released them without it.
Status forget_owed(const Context& context, const node::AddressReleaseName& name, Deadline deadline);

}  // namespace ibpod::attach
