// The gRPC service that answers for a Fabric.
#pragma once

#include "lib/base/clock.h"
#include "lib/fabricapi/fabric.h"
#include "lib/fabricapi/watch_bytes.h"
#include "lib/rpc/peer.h"

#include <functional>
#include <memory>
#include <string>

namespace grpc {
class Service;
}

namespace ibpod::fabricapi {

// Authenticates the caller; denied for an unknown one. From any thread.
using Identify = std::function<Result<Caller>(const rpc::Peer&)>;

struct ServiceSettings {
  std::string fabric = "default";
  // Calls at a time, in all and of one caller (Caller::name). What is beyond is refused as
  // unavailable at once. A call takes its place until the Fabric is done with it, even where the
  // client has gone. Some are kept for Unbind, Sync and administrators (Places::Share).
  size_t calls = 8192;
  size_t calls_of_one = 512;
  size_t watches = 256;
  size_t watches_of_one = 16;
  // How many bytes of changes may wait for watchers to read; beyond it a watch ends
  // (RESOURCE_EXHAUSTED, which is unavailable). The bindings that a watch begins with do not count:
  // another watch would begin with as many.
  WatchBytes::Limits watch_bytes = {};
  Duration longest{600'000};  // a call; clients that name no deadline wait as long
};

// `fabric` has to outlive the service, and each Done that it has not called yet. What a client asks
// has been checked before it gets there. The deadline that it is given is a little before the
// client's, so that its answer arrives.
std::unique_ptr<grpc::Service> serve(Fabric& fabric, Identify identify,
                                     const ServiceSettings& settings);

}  // namespace ibpod::fabricapi
