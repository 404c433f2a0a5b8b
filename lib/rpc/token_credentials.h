// Call credentials that are made of the bearer token in a file.
#pragma once

#include "lib/base/files.h"

#include <memory>

namespace grpc {
class CallCredentials;
}

namespace ibpod::rpc {

// `authorization: Bearer TOKEN` in each call, with the token that the file has then, as
// read_token_file() reads it. A call for which there is none fails with unavailable, and the
// reason. gRPC sends them over TLS only: over another channel a call fails.
std::shared_ptr<grpc::CallCredentials> token_credentials(Path file);

}  // namespace ibpod::rpc
