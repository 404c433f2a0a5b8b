// Channels to the servers of this node, and calls that wait for their answer.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/rpc/status.h"

#include <memory>

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

namespace ibpod::rpc {

// The largest answer of a call, in bytes; clients of the kubelet's pod-resources use the same.
inline constexpr int kLargestAnswer = 16 << 20;

// One connection to a Unix socket, made now: not_found if there is no socket, unavailable if no
// process listens there. If it breaks, every call on it fails with unavailable; it does not
// reconnect.
Result<std::shared_ptr<grpc::Channel>> connect_unix(const Path& socket);

void set_deadline(grpc::ClientContext& context, Deadline deadline);

// Makes a call and waits for the answer, at most until the deadline (unavailable then):
//   const Answer answer = TRY(ask(*stub, &Service::Stub::Method, request, deadline));
template <typename Stub, typename Request, typename Answer>
Result<Answer> ask(Stub& stub,
                   grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Answer*),
                   const Request& request, Deadline deadline) {
  grpc::ClientContext context;
  set_deadline(context, deadline);
  Answer answer;
  TRY(from_grpc((stub.*method)(&context, request, &answer)));
  return answer;
}

}  // namespace ibpod::rpc
