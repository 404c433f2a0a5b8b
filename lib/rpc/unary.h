// A single call of a gRPC server on a unix socket, by a program that lives for milliseconds: with
// gRPC's own library the start of a CNI plugin takes several times as long as all that it does.
// nghttp2 speaks HTTP/2; what gRPC puts on top of it for one request and one answer is
// grpc/doc/PROTOCOL-HTTP2.md.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/files.h"
#include "lib/base/result.h"

#include <string>

namespace ibpod::rpc {

// The largest answer that is taken, in bytes.
inline constexpr size_t kLargestUnaryAnswer = 4 << 20;

// `method` is "/package.Service/Method"; request and answer are serialized messages. Errors are the
// server's own (status.h); unavailable if there is no listener, the connection breaks or the
// deadline passes; internal if the answer is not gRPC.
Result<std::string> unary(const Path& socket, const std::string& method, const std::string& request,
                          Deadline deadline);

}  // namespace ibpod::rpc
