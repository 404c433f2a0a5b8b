// The log lines of gRPC and protobuf.
#pragma once

#include <functional>
#include <string>

namespace ibpod::rpc {

// From here on gRPC and protobuf write nothing on standard error. They would write lines of their
// own form, one or more for each failed handshake and each text that is not UTF-8, which everybody
// who reaches the port can cause at will. For programs, at their beginning.
void silence_grpc();

// OpenSSL's reason: "certificate verify failed". It quotes nothing of the other side.
using OnFailedHandshake = std::function<void(const std::string& why)>;
// Calls `callback`, on threads of gRPC, for each TLS handshake of this process that fails, once
// gRPC has been silenced (gRPC 1.51 reports these only in its log, without the peer). Empty: no
// more calls after this returns.
void on_failed_handshake(OnFailedHandshake callback);

}  // namespace ibpod::rpc
