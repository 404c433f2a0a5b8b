// The gRPC service that answers for a Node.
#pragma once

#include "lib/nodeapi/node.h"

#include <memory>

namespace grpc {
class Service;
}

namespace ibpod::nodeapi {

// `node` has to outlive the service.
std::unique_ptr<grpc::Service> serve(Node& node);

}  // namespace ibpod::nodeapi
