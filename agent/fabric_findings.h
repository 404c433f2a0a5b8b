// What `ibpodctl doctor` is told of the node's fabrics: services that are not reached, certificates
// that cannot be used, devices at whose ports no partition could be bound.
#pragma once

#include "agent/fabric/fabrics.h"
#include "agent/view.h"
#include "lib/nodeapi/node.h"

#include <vector>

namespace ibpod::agent {

std::vector<nodeapi::Finding> certificate_findings(
    const std::map<std::string, NodeCertificate>& certificates);
std::vector<nodeapi::Finding> service_findings(const std::map<std::string, Contact>& contacts);
// Of devices in pools, and where there are no pools of all VFs. What its service or certificate
// has is told by the two above.
std::vector<nodeapi::Finding> device_findings(const View& view);

}  // namespace ibpod::agent
