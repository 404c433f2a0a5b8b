// The log lines of gRPC and protobuf.
#pragma once

namespace ibpod::rpc {

// From here on gRPC and protobuf write nothing on standard error. They would write lines of their
// own form, one or more for each failed handshake and each text that is not UTF-8, which everybody
// who reaches the port can cause at will. For programs, at their beginning.
void silence_grpc();

}  // namespace ibpod::rpc
