// gRPC's status codes by number, for programs with and without gRPC's library
// (grpc/doc/statuscodes.md).
#pragma once

#include "lib/base/result.h"

#include <string>

namespace ibpod::rpc {

inline constexpr int kOk = 0;

// Each Code has one number that maps back to it; see to_grpc().
int number_of(Code code);

// Success, or the Error of a status; see from_grpc().
Status status_of(int number, const std::string& message);

}  // namespace ibpod::rpc
