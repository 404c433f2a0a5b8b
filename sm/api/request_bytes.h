// A request as it comes and an answer as it goes: bytes, so that the parts of a request are counted
// before it is parsed.
#pragma once

#include "lib/fabricapi/request_parts.h"

#include <utility>

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/byte_buffer.h>

namespace ibpod::sm::api {

// The request, whose bytes gRPC would keep as long as the call; they go here. invalid where it has
// too many parts, or is none.
template <typename Request>
Result<Request> parsed(const grpc::ByteBuffer* bytes) {
  grpc::ByteBuffer own;
  own.Swap(const_cast<grpc::ByteBuffer*>(bytes));  // gRPC's own, which it changes nowhere
  TRY(rpc::check_parts(own, fabricapi::parts_of<Request>()));
  Request request;
  if (grpc::SerializationTraits<Request>::Deserialize(&own, &request).ok()) return request;
  return Error(Code::invalid, "the request is not a valid message of this method");
}

template <typename Message>
void put(Message message, Message* answer) {
  *answer = std::move(message);
}

// A message that cannot be serialized leaves no answer, which gRPC reports.
template <typename Message>
void put(const Message& message, grpc::ByteBuffer* answer) {
  bool own = false;
  if (!grpc::SerializationTraits<Message>::Serialize(message, answer, &own).ok()) answer->Clear();
}

}  // namespace ibpod::sm::api
