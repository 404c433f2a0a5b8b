// A bearer token in a file that its owner replaces, such as the kubelet, and the call credentials
// that are made of it.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"

#include <memory>
#include <string>

namespace grpc {
class CallCredentials;
}

namespace ibpod::rpc {

// The content without the line feed at its end. unavailable, with the file's name and never its
// content, if the file is missing or cannot be read; if it is empty; if it has other characters
// than a token (RFC 6750, 2.1); or if it has more than 7 KiB, as a server takes 8 KiB of metadata
// (TcpServer).
Result<std::string> read_token_file(const Path& file);

// `authorization: Bearer TOKEN` in each call, with the token that the file has then. A call for
// which there is none fails with unavailable, and the reason. gRPC sends them over TLS only: over
// another channel a call fails.
std::shared_ptr<grpc::CallCredentials> token_credentials(Path file);

}  // namespace ibpod::rpc
