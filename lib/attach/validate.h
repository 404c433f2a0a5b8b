// What an attachment requires of its call, its pod and its node: all that can be refused without
// touching the device.
#pragma once

#include "lib/attach/attachment_driver.h"
#include "lib/cni/ipam.h"

#include <optional>

namespace ibpod::attach {

struct Validated {
  node::Namespace pod;
  std::optional<cni::Ipam> ipam;
};
// Refuses, each with the specification's code: a namespace that is not there (3) or is the host's
// (4), an interface name that the pod has already, an endpoint that cannot be given, an IPAM that
// is missing or does not speak the configuration's version.
Result<Validated> validate(const Context& context, AttachmentDriver& driver, Deadline deadline);

// Whether it is the namespace that this process runs in, the host's: no pod's.
Result<bool> is_own_namespace(const Context& context, const node::Namespace& where);

// unavailable (11) if the folder of records is missing although the node's agent has made it, as on
// a disk that is not mounted: nothing is known of any attachment then.
Status check_records(const Context& context);

// not_found if the pod ended while its ADD waited: no DEL would give the device back.
Status check_still_there(const Context& context, const node::Namespace& pod);
// The same of the record: a DEL may come meanwhile.
Status check_still_ours(const Context& context, const node::Record& record);

}  // namespace ibpod::attach
