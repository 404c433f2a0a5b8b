// Errors on the wire: Error <-> grpc::Status.
#pragma once

#include "lib/base/result.h"

#include <grpcpp/support/status.h>

namespace ibpod::rpc {

// Each Code has one status code, and comes back from it as itself:
//   invalid INVALID_ARGUMENT, not_found NOT_FOUND, exists ALREADY_EXISTS, busy ABORTED,
//   unsupported UNIMPLEMENTED, denied PERMISSION_DENIED, unavailable UNAVAILABLE, internal INTERNAL
// The message is the text and, after a newline, the details; what is beyond 2,000 bytes is left
// out, for headers are limited to 8 KiB (gRPC's default). errno and reported() do not travel.
grpc::Status to_grpc(const Error& error);

// Success, or the Error that the other side, or gRPC itself, reports. Codes that to_grpc() does not
// make: deadlines, cancelled calls and used-up quotas are unavailable, UNAUTHENTICATED is denied,
// OUT_OF_RANGE invalid, the rest internal.
Status from_grpc(const grpc::Status& status);

}  // namespace ibpod::rpc
