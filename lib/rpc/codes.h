// gRPC's status codes by number, for who speaks it with gRPC's library and for who does not
// (grpc/doc/statuscodes.md).
#pragma once

#include "lib/base/result.h"

#include <string>

namespace ibpod::rpc {

inline constexpr int kOk = 0;

// Each Code has one number and comes back from it as itself; see to_grpc().
int number_of(Code code);

// Success, or the Error that a status tells of; see from_grpc().
Status status_of(int number, const std::string& message);

}  // namespace ibpod::rpc
