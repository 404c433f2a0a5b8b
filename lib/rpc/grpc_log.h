// gRPC's own log lines.
#pragma once

namespace ibpod::rpc {

// From here on gRPC writes nothing on standard error. It would write lines of its own form, one or
// more for each failed handshake, which everybody who reaches the port can cause at will. For
// programs, at their beginning.
void silence_grpc();

}  // namespace ibpod::rpc
