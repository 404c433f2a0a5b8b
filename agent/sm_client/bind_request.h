// The partitions of an attachment's record, as they are requested from the SM service.
#pragma once

#include "lib/fabricapi/calls.h"
#include "lib/node/record.h"
#include "lib/node/records.h"
#include "lib/nodeapi/node.h"

#include <string>

namespace ibpod::agent::sm_client {

// The physical function behind an attachment's device.
struct PfIdentity {
  std::string name;  // ib0, or its PCI address where it has none that is UTF-8
  ib::Guid port;     // of its first port; none: not known
};

// unavailable where there is none of that attempt.
Result<node::Record> record_of(const node::Records& records, const nodeapi::AttachmentName& name);

// invalid where the record names no partition, or its port has no GUID.
Result<fabricapi::BindRequest> make_bind_request(const node::Record& record,
                                                 const std::string& node, const PfIdentity& pf);

// True if the service has granted the GUID that the pod has requested.
bool is_granted(const fabric::Binding& binding);

fabric::Attachment attachment_of(const std::string& node, const nodeapi::AttachmentName& name);

// The binding for a plugin. Its keys are in the order of the record's partitions: the service has
// an order of its own. internal if a verified binding lacks one.
Result<nodeapi::Binding> to_node_binding(const fabric::Binding& binding,
                                         const node::Record& record);
// The same of one that is to end, or is none.
nodeapi::Binding to_node_binding(const fabric::Binding& binding);

}  // namespace ibpod::agent::sm_client
