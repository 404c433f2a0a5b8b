// What IPAM has still to take back after an attachment's end (node/address_releases.h). The device
// does not wait for it: an IPAM plugin that fails, as a tenant's network can make it do, keeps no
// device out of service.
#pragma once

#include "lib/attach/context.h"
#include "lib/node/address_releases.h"

#include <string>

namespace ibpod::attach {

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
